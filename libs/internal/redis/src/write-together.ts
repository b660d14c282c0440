import type { Writable } from 'node:stream';

/**
 * After this many writes the stream is flushed without waiting for the end of the turn, so that the server can start
 * during a long one.
 */
const TOGETHER_MAX = 8;

/**
 * Sends what is written to a stream in one turn of the event loop in few system calls, by replacing its `write`: a call
 * for each command takes 10 % of the CPU of a proof (`npm run bench -- --rows sign`).
 */
export function writeTogether(stream: Pick<Writable, 'cork' | 'uncork' | 'write'>): void {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  let waiting = 0;
  let isFlushDue = false;
  const flush = () => {
    waiting = 0;
    stream.uncork();
  };
  stream.write = (chunk: unknown, ...rest: unknown[]) => {
    if (waiting === 0) stream.cork();
    if (!isFlushDue) {
      isFlushDue = true;
      setImmediate(() => {
        isFlushDue = false;
        flush();
      });
    }
    waiting += 1;
    const isTaken = rest.length === 0 ? write(chunk) : write(chunk, ...rest);
    if (waiting === TOGETHER_MAX) flush();
    return isTaken;
  };
}
