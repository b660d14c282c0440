import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Account, Farewell, Room } from './room.ts';

/** How to start a server process. */
export interface ServerProcessOptions {
  readonly room: Room;
  readonly program: string;
  readonly arguments: readonly string[];
  /** Matches the line, on either stream, that means the server is ready. */
  readonly ready: RegExp;
  readonly farewell: Farewell;
  readonly account?: Account | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** Called with every line that the server writes to either stream. */
  readonly hear?: (line: string) => void;
}

/** What a test does to a server of its own, which keeps its port across restarts. */
export interface OwnServer extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Undefined while stopped. */
  readonly pid: number | undefined;
  /** An orderly shutdown, as by an operator. */
  stop(): Promise<void>;
  /** SIGKILL to each of its processes at once. */
  kill(): Promise<void>;
  /** After `stop` or `kill`. */
  start(): Promise<void>;
  restart(): Promise<void>;
  /** SIGSTOP to each of its processes: connections stay open and the kernel accepts new ones, but nothing answers. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** A server that can be started, stopped, killed and frozen repeatedly, with the same arguments. */
export class ServerProcess {
  readonly #options: ServerProcessOptions;
  #child: ChildProcess | undefined;

  constructor(options: ServerProcessOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the server logs that it is ready; rejects with its last output if it exits first. */
  async start(): Promise<void> {
    if (this.#child) throw new Error(`${this.#options.program} is running already`);
    const { room, program, account, environment } = this.#options;
    const child = spawn(program, this.#options.arguments, {
      cwd: room.directory,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', HOME: room.directory, ...environment },
      ...(account ? { uid: account.uid, gid: account.gid } : {}),
    });
    room.admit(child, this.#options.farewell);
    this.#child = child;
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    await readiness(child, this.#options);
    child.unref();
    unreferenced(child);
  }

  /** Sends a signal and waits until the process has exited. A frozen one is thawed first. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const gone = once(child, 'exit');
    child.ref();
    if (signal !== 'SIGKILL') this.thaw();
    child.kill(signal);
    await gone;
  }

  /** Sends SIGKILL to the process and all its children. Resolves when all have exited. */
  async killFamily(): Promise<void> {
    const pids = this.#family();
    this.freeze();
    for (const pid of pids) signalTo(pid, 'SIGKILL');
    await this.end('SIGKILL');
    while (pids.some(isThere)) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** The process as a server at this address, stopped by this signal. */
  own(url: string, stopSignal: NodeJS.Signals): OwnServer {
    const self = this;
    const stop = () => self.end(stopSignal);
    return {
      url,
      host: '127.0.0.1',
      port: Number(new URL(url).port),
      stop,
      get pid() {
        return self.pid;
      },
      kill: () => self.killFamily(),
      start: () => self.start(),
      async restart() {
        await stop();
        await self.start();
      },
      freeze: async () => self.freeze(),
      thaw: async () => self.thaw(),
      [Symbol.asyncDispose]: () => self.#options.room[Symbol.asyncDispose](),
    };
  }

  /** Freezes the process and all its children. The kernel still accepts connections for them. */
  freeze(): void {
    for (const pid of this.#family()) signalTo(pid, 'SIGSTOP');
    for (const pid of this.#family()) signalTo(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of this.#family()) signalTo(pid, 'SIGCONT');
  }

  #family(): number[] {
    const pid = this.#child?.pid;
    return pid === undefined ? [] : [pid, ...childrenOf(pid)];
  }
}

export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Neither exited nor a zombie. */
function isThere(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function readiness(child: ChildProcess, { program, ready, hear }: ServerProcessOptions): Promise<void> {
  const lastWords: string[] = [];
  return new Promise((resolve, reject) => {
    const listen = (line: string) => {
      hear?.(line);
      lastWords.push(line);
      if (lastWords.length > 20) lastWords.shift();
      if (ready.test(line)) resolve();
    };
    if (child.stdout) createInterface(child.stdout).on('line', listen);
    if (child.stderr) createInterface(child.stderr).on('line', listen);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(new Error(`${program} ended (${signal ?? code}) before it was ready:\n${lastWords.join('\n')}`));
    });
  });
}

/** The pipes of a running server must not keep an otherwise finished script alive. */
function unreferenced(child: ChildProcess): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
}
