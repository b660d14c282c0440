import type { Writable } from 'node:stream';

/** So many go out at once, before the end of a turn: the server works on them while the rest of a long turn is done. */
const TOGETHER_MAX = 8;

/**
 * Lets what is written to a stream in one turn of the event loop go out in few system calls: of commands for as many
 * requests as came together, each alone would cost more than all that is in it.
 */
export function writeTogether(stream: Pick<Writable, 'cork' | 'uncork' | 'write'>): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let waiting = 0;
  let isFlushDue = false;
  const flush = () => {
    if (waiting === 0) return;
    waiting = 0;
    stream.uncork();
  };
  stream.write = (...args: unknown[]) => {
    if (waiting === 0) stream.cork();
    if (!isFlushDue) {
      isFlushDue = true;
      setImmediate(() => {
        isFlushDue = false;
        flush();
      });
    }
    waiting += 1;
    const isTaken = write(...args);
    if (waiting === TOGETHER_MAX) flush();
    return isTaken;
  };
}
