import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Stream } from 'node:stream';
import { promisify } from 'node:util';
import { TEST_CACHE_HOME } from '../env/cache.ts';

const { PATH } = process.env;
/** The launcher, as npm links it. */
export const ORI = new URL('../../services/ori/bin/ori.js', import.meta.url).pathname;

export interface OriResult {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface OriRun {
  readonly env?: Readonly<Record<string, string>>;
  /** Piped to stdin; by default stdin is empty, with null it stays open. */
  readonly stdin?: string | Uint8Array | null;
  /** A file to use as stdin. */
  readonly stdinFile?: string;
}

/** A running `ori`, for tests that act while it runs. */
export interface RunningOri {
  readonly child: ChildProcess;
  /** Resolves with the first match in stderr, past or future; rejects if the process exits first. */
  told(pattern: RegExp): Promise<RegExpExecArray>;
  readonly result: Promise<OriResult>;
}

/** A user of `ori` with their own home folder. */
export interface OriHome extends AsyncDisposable {
  readonly folder: string;
  readonly sessionFile: string;
  readonly environment: Readonly<Record<string, string>>;
  start(args: readonly string[], run?: OriRun): RunningOri;
  ori(args: readonly string[], run?: OriRun): Promise<OriResult>;
}

/** Creates an empty home folder and runs `ori` as a process with only that in its environment. */
export async function makeOriHome(env: Readonly<Record<string, string>> = {}): Promise<OriHome> {
  const folder = await mkdtemp(join(tmpdir(), 'ori-home-'));
  const environment = {
    HOME: folder,
    // Not into the keychain of the person who runs the tests.
    ORI_SESSION_STORE: 'file',
    XDG_CACHE_HOME: TEST_CACHE_HOME,
    ...env,
  };
  const start = (args: readonly string[], run: OriRun = {}): RunningOri => {
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
  return {
    folder,
    sessionFile: join(folder, '.config', 'ori', 'session.json'),
    environment,
    start,
    ori: (args, run) => start(args, run).result,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function watch(child: ChildProcess): RunningOri {
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

/** `told` of a program that writes to `stream` what `text` returns, and ends with `end`. */
export function teller(stream: Stream, text: () => string, end: Promise<unknown>): RunningOri['told'] {
  return (pattern) =>
    new Promise((resolve, reject) => {
      const look = (isLast: boolean): void => {
        const match = pattern.exec(text());
        if (match !== null) resolve(match);
        else if (isLast) reject(new Error(`ori exited without printing ${pattern}: ${text()}`));
        else return;
        stream.off('data', onData);
      };
      const onData = (): void => look(false);
      stream.on('data', onData);
      look(false);
      end.then(() => look(true), reject);
    });
}

/** Posts a file like `curl -H @HEADERS --data-binary @BODY`, with curl if installed. Returns the response body. */
export async function postWithHeaderFile(headers: string, body: string, url: string): Promise<string> {
  const type = 'content-type: application/json';
  try {
    const args = ['-sS', '-H', `@${headers}`, '-H', type, '--data-binary', `@${body}`, url];
    return (await promisify(execFile)('curl', args)).stdout;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  const lines = [...(await readFile(headers, 'utf8')).trimEnd().split('\n'), type];
  const pairs = lines.map((line): [string, string] => [
    line.split(': ', 1).join(),
    line.replace(/^[^:]*: /, ''),
  ]);
  return (await fetch(url, { method: 'POST', headers: pairs, body: await readFile(body) })).text();
}
