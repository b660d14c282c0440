import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Served, serve } from '@ori/test-env/serve';
import { createTestSigner } from '@ori/verifier/testing';
import { rolldown } from 'rolldown';
import { buildNext, JWKS_URL, NEXT, PROGRAMS, RUNTIMES, setUpRuntimes, WORKERS } from './setup.ts';

export const signer = createTestSigner({ internId: `int_${randomBytes(8).toString('hex')}` });
export let jwksUrl: string;
let keys: Served<Server>;

/** Installs the runtimes, builds the daemon for Next, and serves the keys. */
export async function openRuntimes(): Promise<void> {
  await setUpRuntimes();
  keys = await serve(createServer((_request, response) => response.end(JSON.stringify(signer.jwks))));
  jwksUrl = `${keys.url}/jwks.json`;
  await buildNext(settings());
}

export async function closeRuntimes(): Promise<void> {
  await keys[Symbol.asyncDispose]();
}

/** In the folder with the runtimes, and therefore the packages that it imports. */
const DAEMON = join(RUNTIMES, 'daemon.mjs');

/** What `startDaemon` and launch.ts start, after `setUpRuntimes` and `buildNext`. */
export async function prepareLaunches(internId: string): Promise<void> {
  await copyFile(fileURLToPath(new URL('./daemon.mjs', import.meta.url)), DAEMON);
  await rm(WORKERS, { recursive: true, force: true });
  await mkdir(WORKERS);
  const code = await bundleWorker('fetch', undefined, { internId, keysUrl: JWKS_URL });
  await writeFile(join(WORKERS, 'worker.mjs'), code);
}

/** The environment that the Next route reads. */
const settings = () => ({ INTERN_ID: signer.internId, JWKS_URL: jwksUrl, NEXT_TELEMETRY_DISABLED: '1' });

/** The daemon of daemon.mjs, worker.mjs or next/, with one adapter. */
export function startDaemon(runtime: string, adapter: string) {
  return runtime === 'workerd' ? startWorker(adapter) : startProcess(runtime, adapter);
}

function startProcess(runtime: string, adapter: string) {
  const command =
    adapter === 'next'
      ? [NEXT, 'start', join(RUNTIMES, 'next'), '--hostname', '127.0.0.1', '--port', '0']
      : [DAEMON, adapter, signer.internId, jwksUrl];
  return startProgram(`${runtime} ${adapter}`, [...(PROGRAMS[runtime] ?? []), ...command]);
}

/** Starts a program that prints its port or address. */
export async function startProgram(name: string, [program = '', ...args]: readonly string[]) {
  const child: ChildProcess = spawn(program, args, {
    cwd: RUNTIMES,
    env: { ...process.env, ...settings() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${name} ended: ${said}`);
  });
  exited.catch(() => undefined);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  return {
    port: await Promise.race([portOf(lines), exited]),
    stop: async () => void child.kill('SIGKILL'),
    said: () => said,
  };
}

/** Printed by the daemon, or by Next on a separate line. */
async function portOf(lines: AsyncIterable<string>): Promise<number> {
  for await (const line of lines) {
    const port = /^port (\d+)|http:\/\/127\.0\.0\.1:(\d+)/.exec(line);
    if (port !== null) return Number(port[1] ?? port[2]);
  }
  throw new Error('no line named a port');
}

export async function bundleWorker(
  adapter: string,
  entry: string = fileURLToPath(new URL('./worker.mjs', import.meta.url)),
  { internId, keysUrl } = { internId: signer.internId, keysUrl: jwksUrl },
): Promise<string> {
  const copy = join(RUNTIMES, `worker-${adapter}.mjs`);
  await copyFile(entry, copy);
  await using build = await rolldown({
    input: copy,
    cwd: RUNTIMES,
    platform: 'neutral',
    external: ['cloudflare:workers', 'node:crypto'],
    resolve: { conditionNames: ['workerd', 'worker', 'browser', 'import', 'default'] },
    transform: {
      define: {
        INTERN_ID: JSON.stringify(internId),
        JWKS_URL: JSON.stringify(keysUrl),
        ADAPTER: JSON.stringify(adapter),
      },
    },
    onLog(_level, { message }) {
      throw new Error(message);
    },
  });
  const { output } = await build.generate({ format: 'esm', minify: true });
  return output[0].code;
}

export async function startWorker(adapter: string, options: object = {}, entry?: string) {
  const { Miniflare } = createRequire(join(RUNTIMES, 'package.json'))('miniflare');
  const miniflare = new Miniflare({
    modules: true,
    script: await bundleWorker(adapter, entry),
    compatibilityDate: '2026-06-01',
    bindings: { GREETING: 'hello' },
    host: '127.0.0.1',
    ...options,
  });
  const { port } = (await miniflare.ready) as URL;
  return { port: Number(port), stop: () => miniflare.dispose(), said: () => '' };
}
