import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { TEST_CACHE_HOME } from '../env/cache.ts';
import { type OriResult, type OriRun, type RunningOri, startOri, teller } from './cli-in-process.ts';

export type { OriResult, OriRun, RunningOri };

const { PATH } = process.env;
const OF_PROCESS = /^(?:NODE_|DBUS_|TMPDIR$|HTTPS_PROXY$)/;
/** The launcher, as npm links it. */
export const ORI = new URL('../../services/ori/bin/ori.js', import.meta.url).pathname;

/** Creates an empty home folder and runs `ori` as a process with only that in its environment. */
export async function makeOriHome(env: Readonly<Record<string, string>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'ori-home-'));
  const environment = {
    HOME: folder,
    // Not into the keychain of the person who runs the tests.
    ORI_SESSION_STORE: 'file',
    XDG_CACHE_HOME: TEST_CACHE_HOME,
    ...env,
  };
  const start = (args: readonly string[], run: OriRun = {}) => {
    const file = run.stdinFile === undefined ? undefined : openSync(run.stdinFile, 'r');
    const child = spawn(process.execPath, [ORI, ...args], {
      cwd: folder,
      env: { PATH, ...environment, ...run.env },
      stdio: [file ?? 'pipe', 'pipe', 'pipe'],
    });
    // A child that ends without reading its stdin closes the pipe.
    child.stdin?.on('error', () => {});
    if (run.stdin !== null) child.stdin?.end(run.stdin ?? '');
    if (file !== undefined) closeSync(file);
    return watch(child);
  };
  const begin = (args: readonly string[], run: OriRun = {}): RunningOri => {
    const isOfProcess =
      run.stdinFile !== undefined ||
      Object.keys({ ...environment, ...run.env }).some((name) => OF_PROCESS.test(name));
    return isOfProcess ? start(args, run) : startOri({ environment }, args, run);
  };
  const sessionFile = join(folder, '.config', 'ori', 'session.json');
  const session = async () => JSON.parse(await readFile(sessionFile, 'utf8'));
  return {
    folder,
    sessionFile,
    /** What the file has. */
    session,
    async changeSession(changes: Readonly<Record<string, unknown>>): Promise<void> {
      const changed = JSON.stringify({ ...(await session()), ...changes });
      await writeFile(sessionFile, changed, { mode: 0o600 });
    },
    environment,
    /** Starts it as a process. */
    start,
    /** As a process only where it makes a difference: for a file as stdin, and settings of Node, the keychain or a proxy. */
    begin,
    /** Likewise, to the end. */
    ori: (args: readonly string[], run?: OriRun) => begin(args, run).result,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A user of `ori` with their own home folder. */
export type OriHome = Awaited<ReturnType<typeof makeOriHome>>;

function watch(child: ChildProcess): RunningOri & { readonly child: ChildProcess } {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const result = once(child, 'close').then(([exit]): OriResult => ({ exit, stdout, stderr }));
  return { child, told: teller(child.stderr as Readable, () => stderr, result), result };
}
