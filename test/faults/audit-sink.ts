import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Room } from '../env/room.ts';

/** A FIFO and the process that reads it into a file, as a log shipper does. */
export interface AuditSink extends AsyncDisposable {
  /** Of the FIFO. */
  readonly path: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Somebody has the FIFO open for reading, and does not read. */
  hold(): Promise<void>;
  release(): Promise<void>;
  /** Writes what nobody wants until the FIFO takes no more. */
  fill(): Promise<void>;
  /** What arrived so far, complete lines of JSON alone. */
  lines(): Promise<Record<string, unknown>[]>;
}

export async function startAuditSink(path: string, room: Room): Promise<AuditSink> {
  execFileSync('mkfifo', [path]);
  const arrived = `${path}.jsonl`;
  let child: ChildProcess | undefined;
  let held: FileHandle | undefined;
  /** While it is open for writing, a reader sees no end of it. */
  let keeper: FileHandle | undefined;

  async function start(): Promise<void> {
    child = spawn('/bin/sh', ['-c', 'exec cat "$0" >>"$1"', path, arrived], { stdio: 'ignore' });
    room.admit(child, 'KILL');
    keeper ??= await untilRead(() => open(path, constants.O_WRONLY | constants.O_NONBLOCK));
    await untilRead(() => keeper?.write('\n'));
  }

  async function kill(): Promise<void> {
    const reader = child;
    child = undefined;
    if (reader === undefined || reader.exitCode !== null) return;
    const gone = once(reader, 'exit');
    reader.kill('SIGKILL');
    await gone;
  }

  await start();
  return {
    path,
    start,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async hold() {
      held = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    },
    async release() {
      await held?.close();
      held = undefined;
    },
    async fill() {
      for (const bytes of [1024, 1]) {
        const full = async () => {
          for (;;) await keeper?.write('\n'.repeat(bytes));
        };
        await full().catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EAGAIN') throw error;
        });
      }
    },
    async lines() {
      const text = await readFile(arrived, 'utf8').catch(() => '');
      return text
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line));
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await held?.close();
      await keeper?.close();
    },
  };
}

/** No reader, a reader that left, one that has not begun to read. */
const LATER = new Set(['ENXIO', 'EPIPE', 'EAGAIN']);

/** Tries until somebody reads the FIFO. */
async function untilRead<T>(work: () => Promise<T> | undefined): Promise<T | undefined> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!LATER.has(code ?? '')) throw error;
      await pause(2);
    }
  }
}
