import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { renderTable } from '@ori/test-env/text-table';
import { overTcp, PATH, type Sent } from '@ori/test-env/verifier/guarded-daemons';
import { createTestSigner } from '@ori/verifier/testing';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { buildNext, NEXT, PROGRAMS, RUNTIMES, setUpRuntimes } from './setup.ts';

const BODY = '{"prompt":"hello"}';
const signer = createTestSigner({ internId: `int_${randomBytes(8).toString('hex')}` });
const signed = (): [string, string][] => [
  ['content-type', 'application/json'],
  ...Object.entries(signer.sign({ path: PATH, body: BODY })),
];

const NODE_ADAPTERS = ['node', 'express', 'express4', 'fastify', 'koa', 'hono', 'fetch', 'next'];
const CELLS: readonly (readonly [runtime: string, adapter: string])[] = [
  ...['Node 20.19', 'Node 22', 'Node 24'].flatMap((name) =>
    NODE_ADAPTERS.map((adapter) => [name, adapter] as const),
  ),
  ...['Bun', 'Deno'].flatMap((name) =>
    ['node', 'express', 'hono', 'fetch'].map((adapter) => [name, adapter] as const),
  ),
  ...['hono', 'fetch'].map((adapter) => ['workerd', adapter] as const),
];

let jwksUrl: string;
const keys = createServer((_request, response) => response.end(JSON.stringify(signer.jwks)));

beforeAll(async () => {
  await setUpRuntimes();
  keys.listen(0, '127.0.0.1');
  await once(keys, 'listening');
  jwksUrl = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/jwks.json`;
  await buildNext(settings());
}, 600_000);

/** The environment that the Next route reads. */
const settings = () => ({ INTERN_ID: signer.internId, JWKS_URL: jwksUrl, NEXT_TELEMETRY_DISABLED: '1' });

interface Ran {
  readonly total: number;
  readonly withoutProof: number;
}

const verdicts: string[][] = [];
afterAll(() => {
  keys.closeAllConnections();
  keys.close();
  const head = ['runtime', 'adapter', ...Object.keys(REQUESTS), 'ran for a cut one', 'ran without a proof'];
  console.log(renderTable([head, ...verdicts]));
});

/** The requests to each daemon, and the required responses. */
const REQUESTS: Readonly<Record<string, { make(): Partial<Sent>; expected: string }>> = {
  good: { make: () => ({}), expected: '200' },
  replayed: { make: () => ({}), expected: '401 nonce_replayed' },
  'no proof': {
    make: () => ({ headers: [['content-type', 'application/json']] }),
    expected: '401 proof_missing',
  },
  'other body': { make: () => ({ body: '{"prompt":"other!"}' }), expected: '401 signature_invalid' },
  query: { make: () => ({ target: `${PATH}?a=1` }), expected: '401 request_not_coverable' },
  'too large': { make: () => ({ body: 'x'.repeat(1001) }), expected: '413 body_too_large' },
};

async function startProcess(runtime: string, adapter: string) {
  const [program = '', ...args] = PROGRAMS[runtime] ?? [];
  const daemon = fileURLToPath(new URL('./daemon.mjs', import.meta.url));
  // The folder with the runtimes, and therefore the packages that it imports.
  const copy = join(RUNTIMES, 'daemon.mjs');
  await copyFile(daemon, copy);
  const command =
    adapter === 'next'
      ? [NEXT, 'start', join(RUNTIMES, 'next'), '--hostname', '127.0.0.1', '--port', '0']
      : [copy, adapter, signer.internId, jwksUrl];
  const child: ChildProcess = spawn(program, [...args, ...command], {
    cwd: RUNTIMES,
    env: { ...process.env, ...settings() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${runtime} ${adapter} ended: ${said}`);
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

async function bundleWorker(
  adapter: string,
  entry = fileURLToPath(new URL('./worker.mjs', import.meta.url)),
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
        INTERN_ID: JSON.stringify(signer.internId),
        JWKS_URL: JSON.stringify(jwksUrl),
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

async function startWorker(adapter: string, options: object = {}, entry?: string) {
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

test.each(CELLS)(
  '%s, %s: the same verdicts, and no handler runs without a proof',
  async (runtime, adapter) => {
    const { port, stop, said } = await (runtime === 'workerd'
      ? startWorker(adapter)
      : startProcess(runtime, adapter));
    const daemon = overTcp(port, stop);
    const ran = async () => (await (await fetch(`http://127.0.0.1:${port}/ran`)).json()) as Ran;
    const show = ({ status, code }: { status: number | undefined; code: string | undefined }) =>
      `${status}${code === undefined ? '' : ` ${code}`}`;
    try {
      // Concurrently, before the keys have been fetched: on workerd, no request may wait for another request's fetch.
      const first = Array.from({ length: 5 }, () => daemon.send({ headers: signed(), body: BODY }));
      for (const { status, code } of await Promise.all(first)) {
        expect(code ?? status).toBeOneOf([200, 'proof_before_fence']);
      }
      // A new store refuses what was signed before, or right after, it was created.
      await vi.waitFor(
        async () =>
          expect(await daemon.send({ headers: signed(), body: BODY })).toMatchObject({ status: 200 }),
        { timeout: 15_000, interval: 500 },
      );
      const before = await ran();
      const headers = signed();
      const row: string[] = [];
      for (const { make } of Object.values(REQUESTS)) {
        row.push(show(await daemon.send({ headers, body: BODY, ...make() })));
      }
      await daemon.send({ headers: signed(), body: BODY, cutAfter: 5 });
      const many = Array.from({ length: 20 }, () => daemon.send({ headers: signed(), body: BODY }));
      const crowd = (await Promise.all(many)).filter(({ status }) => status === 200).length;
      const after = await ran();
      verdicts.push([
        runtime,
        adapter,
        ...row,
        `${after.total - before.total - 1 - crowd}`,
        `${after.withoutProof}`,
      ]);
      expect(row).toEqual(Object.values(REQUESTS).map(({ expected }) => expected));
      expect(crowd).toBe(20);
      expect(after).toEqual({ total: before.total + 1 + 20, withoutProof: 0 });
      // A stranger must not be able to fill the log. Koa itself logs a socket that failed.
      if (adapter !== 'koa') expect(said()).not.toMatch(/Error|at .*\.js:/);
    } finally {
      await stop();
    }
  },
);

test('the Durable Object of the README is a replay store that survives a restart of workerd', async () => {
  const readme = await readFile(new URL('../../libs/public/verifier/README.md', import.meta.url), 'utf8');
  const block = /### Durable Objects\n.*?```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
  const daemon = block.replaceAll('int_7Qm2', signer.internId).replace(/'https:[^']*'/, `'${jwksUrl}'`);
  await writeFile(join(RUNTIMES, 'durable-object.mjs'), daemon);
  const entry = fileURLToPath(new URL('./worker-durable-object.mjs', import.meta.url));
  const persisted = await mkdtemp(join(tmpdir(), 'ori-durable-object-'));
  onTestFinished(() => rm(persisted, { recursive: true, force: true }));
  const options = {
    durableObjects: { SPENT_PROOFS: { className: 'SpentProofs', useSQLite: true } },
    durableObjectsPersist: persisted,
    // For the conformance test, which signs nothing but imports modules that do.
    compatibilityFlags: ['nodejs_compat'],
  };
  const headers = signed();
  for (const expected of [200, 401]) {
    const { port, stop } = await startWorker('durable-object', options, entry);
    const worker = overTcp(port, stop);
    try {
      expect(await worker.send({ headers, body: BODY })).toMatchObject({ status: expected });
      expect(await worker.send({ headers, body: BODY })).toEqual({ status: 401, code: 'nonce_replayed' });
      // It waits for as long as the store must remember a proof.
      if (expected === 200) {
        expect(await (await fetch(`http://127.0.0.1:${port}/conformance`)).text()).toBe('conforms');
      }
    } finally {
      await worker.stop();
    }
  }
}, 180_000);

test('a bundle for Workers stays below 30 kB', async () => {
  const code = await bundleWorker('fetch', fileURLToPath(new URL('./worker-fetch.mjs', import.meta.url)));
  const bytes = gzipSync(code).byteLength;
  console.log(`bundle for Workers: ${code.length} bytes, ${bytes} gzipped`);
  expect(bytes).toBeLessThan(30_000);
});

test('every resolver finds the types that belong to the code', async () => {
  const { checkPackage, createPackageFromTarballData } = await import(
    join(RUNTIMES, 'node_modules/@arethetypeswrong/core/dist/index.js')
  );
  for (const name of ['proof', 'tlog', 'verifier']) {
    const tarball = await readFile(join(RUNTIMES, 'tarballs', `ori-${name}-1.0.0.tgz`));
    const { problems } = await checkPackage(createPackageFromTarballData(tarball));
    // ESM only, by design: `require` works from Node 20.19 on, and resolution by folder names (node10) is not supported.
    const real = problems.filter(
      ({ kind, resolutionKind }: { kind: string; resolutionKind?: string }) =>
        !(resolutionKind === 'node10' || kind === 'CJSResolvesToESM'),
    );
    expect(real).toEqual([]);
  }
});
