import { close, constants, fstat, open, write } from 'node:fs';
import { promisify } from 'node:util';
import { lagTolerantTimers } from '@ori/runtime/lag-tolerant-timer';
import { systemErrorCode } from '@ori/runtime/system-error-code';
import { DependencyError } from '../core/dependency-error.ts';
import { Written } from '../core/stages/evidence.ts';

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);

/** `kernel`: a line survives the process; `disk`: it survives the machine (`O_DSYNC`), at the disk's pace. */
export type AuditSync = 'kernel' | 'disk';

interface Waiting {
  readonly line: string;
  readonly stopTimer: () => void;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: DependencyError) => void;
}

/** How long a line waits for its write, and close for the current write, in milliseconds. */
const WRITE_TIMEOUT_MS = 400;
const NEWLINE = 0x0a;

/**
 * Opens an append-only file of JSON lines, created with mode 0640 less the umask. There is one write at a
 * time, and lines that arrive during it share the next one, so a slow disk costs latency and not throughput. A
 * line is acknowledged only after its own write. If that write fails or takes too long, all its lines are
 * refused, although they may have been written.
 *
 * A FIFO is opened without waiting for a reader, and a full one refuses a line at once instead of blocking a thread.
 */
export async function openAuditFile(path: string, sync: AuditSync = 'kernel') {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK, O_DSYNC } = constants;
  const flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | (sync === 'disk' ? O_DSYNC : 0);
  let fd = await openOrFail(path, flags);
  let successor: number | undefined;
  const startTimer = lagTolerantTimers(WRITE_TIMEOUT_MS);
  let waiting: Waiting[] = [];
  let isWorking = false;
  const onIdle: (() => void)[] = [];
  let torn = await mayBeTorn(fd);
  let isFailing = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0 || successor !== undefined) {
      if (successor !== undefined) await succeed(successor);
      const batch = waiting;
      waiting = [];
      const lines = batch.map(({ line }) => `${line}\n`).join('');
      try {
        // A write that failed in part left an unfinished line, which the next one must not continue.
        const bytes = Buffer.from(torn ? `\n${lines}` : lines);
        for (let at = 0; at < bytes.length; ) {
          at += await writeSome(fd, bytes, at);
          torn = bytes[at - 1] !== NEWLINE;
        }
        isFailing = false;
        batch.forEach(({ line, stopTimer, resolve }) => {
          stopTimer();
          resolve(new Written(line));
        });
      } catch (cause) {
        const error = new DependencyError('audit', 'the audit file cannot be written', { cause });
        for (const one of batch) refuse(one, error);
      }
    }
    isWorking = false;
    for (const tell of onIdle.splice(0)) tell();
  }

  /** At the end of this turn of the event loop, to include the lines that arrive in it. */
  function startWork(): void {
    if (!isWorking) setImmediate(() => void drain());
    isWorking = true;
  }

  /** Resolves once there is nothing to write. */
  const idle = () => new Promise<void>((resolve) => (isWorking ? onIdle.push(resolve) : resolve()));

  function refuse({ stopTimer, reject }: Waiting, error: DependencyError): void {
    isFailing = true;
    stopTimer();
    reject(error);
  }

  /** A line whose write has not begun is dropped. */
  function giveUp(late: Waiting): void {
    waiting = waiting.filter((one) => one !== late);
    refuse(late, new DependencyError('audit', 'the audit file took too long'));
  }

  async function succeed(next: number): Promise<void> {
    const former = fd;
    fd = next;
    successor = undefined;
    torn = await mayBeTorn(fd);
    await closeFile(former).catch(() => undefined);
  }

  function append(line: string): Promise<Written> {
    return new Promise((resolve, reject) => {
      const stopTimer = startTimer(() => giveUp(one));
      const one: Waiting = { line, stopTimer, resolve, reject };
      waiting.push(one);
      startWork();
    });
  }

  return {
    /** Resolves once the kernel (or, by configuration, the disk) has the line. @throws DependencyError `audit` */
    append,
    /** Reopens the path, after the file was rotated away. If that fails, the old file stays in use. */
    async reopen(): Promise<void> {
      const next = await openOrFail(path, flags);
      const skipped = successor;
      successor = next;
      if (skipped !== undefined) await closeFile(skipped);
      startWork();
      await inTime(idle());
    },
    /** @throws DependencyError `audit` when lines cannot be written now */
    async check(): Promise<void> {
      // Only a write shows whether writing works again. Readers skip the empty line.
      if (isFailing) await append('');
      const { nlink } = await statFile(fd);
      if (nlink === 0)
        throw new DependencyError('audit', 'the audit file was deleted; send SIGHUP to create a new one');
    },
    async close(): Promise<void> {
      if (await inTime(idle())) await closeFile(fd);
    },
  };
}

/** The destination of audit lines. */
export type AuditLog = Awaited<ReturnType<typeof openAuditFile>>;

/** How many of the bytes from `at` on were written. */
function writeSome(fd: number, bytes: Uint8Array, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, at, (error, written) => (error ? reject(error) : resolve(written)));
  });
}

/** @returns false if a write takes so long that it may never end */
async function inTime(work: Promise<void>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), WRITE_TIMEOUT_MS);
  const ended = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return ended;
}

/** What an earlier process wrote last may be unfinished; this one may not read it. An empty line is skipped by readers. */
async function mayBeTorn(fd: number): Promise<boolean> {
  return (await statFile(fd).catch(() => undefined))?.size !== 0;
}

function openOrFail(path: string, flags: number): Promise<number> {
  return openFile(path, flags, 0o640).catch((cause) => {
    const why = systemErrorCode(cause);
    throw new DependencyError('audit', `the audit file ${JSON.stringify(path)} cannot be opened (${why})`, {
      cause,
    });
  });
}
