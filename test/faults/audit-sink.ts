import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** A FIFO and its reader, like a log shipper. */
export interface AuditSink extends AsyncDisposable {
  /** The path of the FIFO. */
  readonly path: string;
  start(): Promise<void>;
  /** Closes the reader, so that no process has the FIFO open for reading. */
  stop(): Promise<void>;
  /** Keeps it open for reading without reading. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Fills the FIFO. */
  fill(): Promise<void>;
  /** What has arrived so far. */
  lines(): Record<string, unknown>[];
}

const READ_EVERY_MS = 2;

export async function startAuditSink(path: string): Promise<AuditSink> {
  execFileSync('mkfifo', [path]);
  const bytes = Buffer.alloc(64 * 1024);
  let text = '';
  let reader: FileHandle | undefined;
  let isFrozen = false;
  let reading: Promise<void> | undefined;

  async function read(from: FileHandle): Promise<void> {
    while (reader === from && !isFrozen) {
      const { bytesRead } = await from.read(bytes, 0, bytes.length).catch(emptyWhen('EAGAIN'));
      text += bytes.toString('latin1', 0, bytesRead);
      if (bytesRead === 0) await pause(READ_EVERY_MS);
    }
  }

  async function start(): Promise<void> {
    reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    thaw();
  }

  function thaw(): void {
    isFrozen = false;
    if (reader !== undefined) reading = read(reader);
  }

  async function stop(): Promise<void> {
    const former = reader;
    reader = undefined;
    await reading;
    await former?.close();
  }

  await start();
  // Keeping it open for writing too preserves its contents when readers close.
  const keeper = await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
  return {
    path,
    start,
    stop,
    async freeze() {
      isFrozen = true;
      await reading;
    },
    thaw,
    async fill() {
      for (const length of [1024, 1]) {
        const junk = Buffer.alloc(length, '\n');
        while ((await keeper.write(junk).catch(emptyWhen('EAGAIN'))).bytesWritten !== 0);
      }
    },
    lines() {
      const whole = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
      return whole.map((line) => JSON.parse(line));
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await keeper.close();
    },
  };
}

const emptyWhen = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code === code) return { bytesRead: 0, bytesWritten: 0 };
  throw error;
};
