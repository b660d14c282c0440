import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run as runProgram } from '../../services/ori-admin/src/program.ts';
import { TEST_CACHE_HOME } from '../env/cache.ts';
import { shipped } from '../env/programs.ts';
import { Sink } from '../env/sink.ts';

const { PATH } = process.env;
/** The launcher as npm links it: it requires the pinned Node, and runs the source. */
const LAUNCHER = new URL('../../services/ori-admin/bin/ori-admin.js', import.meta.url).pathname;
/** Imitates a Node without TypeScript support. The process that it hands over to is real. */
const OLDER_NODE = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.19.0'}})`;

export interface AdminRun {
  /** Piped to stdin; empty by default. */
  readonly stdin?: string;
  /** Which streams are terminals. */
  readonly screens?: readonly ('stdin' | 'stdout' | 'stderr')[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Runs the launcher, with a Node that has to hand over. */
  readonly olderNode?: boolean;
  /** Closes the reading end of stdout. */
  readonly readerLeaves?: boolean;
  /** Kills it with SIGKILL once this is fulfilled. */
  readonly killWhen?: Promise<unknown>;
}

export interface AdminResult {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function createOriAdmin(environment: Readonly<Record<string, string>>) {
  let written = '';
  const runAsProcess = async (args: readonly string[], options: AdminRun): Promise<AdminResult> => {
    const { stdin = '', olderNode = false } = options;
    const program = olderNode ? ['--import', OLDER_NODE, LAUNCHER] : [await shipped('admin/ori-admin')];
    const child = spawn(process.execPath, [...program, ...args], {
      env: { PATH, XDG_CACHE_HOME: TEST_CACHE_HOME, ...environment, ...options.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // A child that ends without reading its stdin closes the pipe.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    if (options.readerLeaves) child.stdout.destroy();
    void options.killWhen?.then(() => child.kill('SIGKILL'));
    const [stdout, stderr, [exit]] = await Promise.all([
      options.readerLeaves ? '' : text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { exit, stdout, stderr };
  };
  const runHere = async (args: readonly string[], options: AdminRun): Promise<AdminResult> => {
    const { stdin = '', screens = [] } = options;
    const streams = { stdin: Readable.from([Buffer.from(stdin)]), stdout: new Sink(), stderr: new Sink() };
    for (const name of screens) Object.assign(streams[name], { isTTY: true });
    const exit = await runProgram(args, {
      environment: { ...environment, ...options.environment },
      ...streams,
    });
    return { exit, stdout: streams.stdout.text, stderr: streams.stderr.text };
  };
  const run = async (args: readonly string[], options: AdminRun = {}): Promise<AdminResult> => {
    const isOfProcess = options.olderNode || options.readerLeaves || options.killWhen !== undefined;
    const result = await (isOfProcess ? runAsProcess : runHere)(args, options);
    written += `${args.join(' ')}\n${result.stdout}\n${result.stderr}\n`;
    return result;
  };
  const must = async (args: readonly string[]): Promise<string> => {
    const { exit, stdout, stderr } = await run(args);
    if (exit !== 0) throw new Error(`ori-admin ${args.join(' ')} exits with ${exit}: ${stderr}`);
    return stdout;
  };
  const json = async (...args: readonly string[]) => JSON.parse(await must([...args, '--json']));
  return {
    /** As it ships, as a process, if it needs one: for a pipe that breaks, signals, another Node. Otherwise within this process. */
    run,
    /** The single line on stdout of a command that must succeed, within this process. */
    get: async (...args: readonly string[]) => (await must(args)).trim(),
    /** The JSON output of a command that must succeed, likewise. */
    json,
    /** Makes what a file with these organizations says; new keys are written nowhere, so it names none. */
    apply: async (...organizations: readonly object[]): Promise<void> => {
      const folder = await mkdtemp(join(tmpdir(), 'ori-team-'));
      const file = join(folder, 'team.json');
      await writeFile(file, JSON.stringify({ organizations }));
      await must(['apply', '-f', file]).finally(() => rm(folder, { recursive: true }));
    },
    /** The id of what has the name. @param noun whose `list` has it */
    idOf: async (noun: string, name: string): Promise<string> => {
      const { data } = await json(noun, 'list');
      return data.find((one: { name: string }) => one.name === name).id;
    },
    /** Everything that was ever written to stdout and stderr, and every command line. */
    written: () => written,
  };
}

/** `ori-admin` with only the given environment. */
export type OriAdmin = ReturnType<typeof createOriAdmin>;
