import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
/** Imitates a terminal: sets what Node reports for one. */
const onScreen = (streams: readonly string[]) =>
  `data:text/javascript,for(const s of ${JSON.stringify(streams)})Object.defineProperty(process[s],'isTTY',{value:true})`;

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

/** `ori-admin` with only the given environment. */
export interface OriAdmin {
  /** As it ships, as a process, if it needs one: for streams, signals, another Node. Otherwise within this process. */
  run(args: readonly string[], run?: AdminRun): Promise<AdminResult>;
  /** The single line on stdout of a command that must succeed, within this process. */
  get(...args: readonly string[]): Promise<string>;
  /** The JSON output of a command that must succeed, likewise. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks at is what it knows to be there
  json(...args: readonly string[]): Promise<any>;
  /** Everything that was ever written to stdout and stderr, and every command line. */
  readonly written: () => string;
}

export function createOriAdmin(environment: Readonly<Record<string, string>>): OriAdmin {
  let written = '';
  const runAsProcess = async (args: readonly string[], options: AdminRun): Promise<AdminResult> => {
    const { stdin = '', screens = [], olderNode = false } = options;
    const stage = olderNode ? OLDER_NODE : onScreen(screens);
    const program = olderNode ? LAUNCHER : await shipped('admin/ori-admin');
    const child = spawn(process.execPath, ['--import', stage, program, ...args], {
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
    written += `${args.join(' ')}\n${stdout}\n${stderr}\n`;
    return { exit, stdout, stderr };
  };
  const runHere = async (
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<AdminResult> => {
    const [stdout, stderr] = [new Sink(), new Sink()];
    const host = {
      environment: { ...environment, ...more },
      stdin: Readable.from([]),
      stdout,
      stderr,
    };
    const exit = await runProgram(args, host);
    written += `${args.join(' ')}\n${stdout.text}\n${stderr.text}\n`;
    return { exit, stdout: stdout.text, stderr: stderr.text };
  };
  const must = async (args: readonly string[]): Promise<string> => {
    const { exit, stdout, stderr } = await runHere(args);
    if (exit !== 0) throw new Error(`ori-admin ${args.join(' ')} exits with ${exit}: ${stderr}`);
    return stdout;
  };
  return {
    run: (args, { environment: more, ...rest } = {}) =>
      Object.keys(rest).length === 0
        ? runHere(args, more)
        : runAsProcess(args, { environment: more ?? {}, ...rest }),
    get: async (...args) => (await must(args)).trim(),
    json: async (...args) => JSON.parse(await must([...args, '--json'])),
    written: () => written,
  };
}
