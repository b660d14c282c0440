import { write, writeSync } from 'node:fs';

/** How many characters may wait for a slow reader; lines beyond that are dropped and counted. */
const WAITING_MAX = 1024 * 1024;
const AGAIN_MS = 50;
/**
 * How long lines are collected for one write, in milliseconds: a separate write costs more than formatting the line.
 */
const GATHER_MS = 10;
/** If a write at exit takes this many milliseconds, the reader counts as stuck. */
const STUCK_MS = 200;
const NEWLINE = 0x0a;

/** The part of `node:fs` and `process` that the sink uses. */
export interface SinkSystem {
  write: typeof write;
  writeSync: typeof writeSync;
  on(event: 'exit', listener: () => void): unknown;
  /** Ends the process immediately. */
  kill(): void;
}

const SYSTEM: SinkSystem = {
  write,
  writeSync,
  on: (event, listener) => process.on(event, listener),
  kill: () => void process.kill(process.pid, 'SIGKILL'),
};

/**
 * Writes lines to a file descriptor off the event loop, collected over some milliseconds, so that a slow, stuck or
 * missing reader does not delay requests. Lines that do not fit are dropped, and a later line reports how many.
 *
 * Not pino's own destination: at exit, sonic-boom 4.2.1 repeats a failing write (a full disk, a reader that has exited)
 * forever, and waits for a stuck reader. log-sink.test.ts shows both.
 */
export function createLogSink(
  fd: number,
  service: string,
  { write, writeSync, on, kill }: SinkSystem = SYSTEM,
) {
  let waiting = '';
  let dropped = 0;
  let underWay = false;
  /** A failure truncated the last line; the next one must not continue it. */
  let torn = false;
  let begun: number | undefined;

  function gather(): void {
    underWay = true;
    setTimeout(flush, GATHER_MS);
  }

  function flush(): void {
    if (dropped > 0) {
      const time = new Date().toISOString();
      waiting += `${JSON.stringify({ level: 'warn', time, service, dropped, msg: 'log lines dropped' })}\n`;
      dropped = 0;
    }
    const bytes = Buffer.from(torn ? `\n${waiting}` : waiting);
    waiting = '';
    begun = performance.now();
    writeAll(bytes);
  }

  function writeAll(bytes: Buffer): void {
    write(fd, bytes, 0, bytes.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(writeAll, AGAIN_MS, bytes).unref();
      if (written > 0) torn = bytes[written - 1] !== NEWLINE;
      if (error === null && written < bytes.length) return writeAll(bytes.subarray(written));
      // After a failure these lines are lost, because there is no reader or the disk is full. Later lines are tried
      // again.
      begun = undefined;
      underWay = false;
      if (waiting !== '' || dropped > 0) gather();
    });
  }

  on('exit', () => {
    // On exit Node waits for its threads, but not for one that is blocked in a write.
    if (begun !== undefined && performance.now() - begun > STUCK_MS) return kill();
    if (waiting === '') return;
    try {
      writeSync(fd, waiting);
    } catch {
      // The failure cannot be reported anywhere.
    }
  });

  return {
    write(line: string): void {
      if (waiting.length + line.length > WAITING_MAX) {
        dropped += 1;
        return;
      }
      waiting += line;
      if (!underWay) gather();
    },
  };
}
