import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { StandaloneState } from '../../services/standalone/src/state-file.ts';
import { TEST_CACHE_HOME } from '../env/cache.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

export interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** A folder for one test, in which the standalone's programs run as processes. */
export interface StandaloneHome extends AsyncDisposable {
  readonly folder: string;
  readonly stateFile: string;
  /** Resolves when it prints `ready:`; rejects with its output if it exits first. */
  start(env?: Environment): Promise<RunningStandalone>;
  /** For a start that is refused. */
  startRefused(env: Environment): Promise<Ended>;
  token(...args: string[]): Promise<Ended>;
}

export interface RunningStandalone extends AsyncDisposable {
  readonly state: StandaloneState;
  /** Its stdout up to and including the `ready:` line. */
  readonly lines: readonly string[];
  /** SIGTERM. */
  stop(): Promise<Ended>;
}

export async function makeStandaloneHome(): Promise<StandaloneHome> {
  const folder = await mkdtemp(join(tmpdir(), 'ori-standalone-'));
  const stateFile = join(folder, '.ori', 'standalone.json');
  for (const name of ['services', 'deploy']) await symlink(join(ROOT, name), join(folder, name));
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  // As npm runs a script: its line in a shell, to which npm forwards signals; but in this folder.
  const run = (script: 'start' | 'token', args: readonly string[], env: Environment = {}): ChildProcess =>
    spawn('sh', ['-c', `${scripts[script]} "$@"`, 'sh', ...args], {
      cwd: folder,
      env: {
        PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`,
        XDG_CACHE_HOME: TEST_CACHE_HOME,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  return {
    folder,
    stateFile,
    async start(env) {
      const child = run('start', [], { ORI_PORT: '0', ...env });
      const ended = endOf(child);
      const lines = await linesUntilReady(child, ended);
      const state = JSON.parse(await readFile(stateFile, 'utf8'));
      const stop = () => {
        child.kill('SIGTERM');
        return ended;
      };
      return { state, lines, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
    },
    startRefused: (env) => endOf(run('start', [], { ORI_PORT: '0', ...env })),
    token: (...args) => endOf(run('token', args)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function linesUntilReady(child: ChildProcess, ended: Promise<Ended>): Promise<string[]> {
  const lines: string[] = [];
  const ready = new Promise<string[]>((resolve) => {
    if (child.stdout === null) return;
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line);
      if (line.startsWith('ready: ')) resolve([...lines]);
    });
  });
  const failed = ended.then(({ exit, stdout, stderr }): never => {
    throw new Error(`the standalone exited (${exit}) before it was ready:\n${stdout}${stderr}`);
  });
  return Promise.race([ready, failed]);
}

async function endOf(child: ChildProcess): Promise<Ended> {
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text) => {
      said[stream] += text;
    });
  }
  const [exit] = await once(child, 'close');
  return { exit, ...said };
}
