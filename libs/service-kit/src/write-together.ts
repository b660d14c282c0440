import type { Writable } from 'node:stream';

/**
 * Lets what is written to a stream in one turn of the event loop go out in one system call, at the end of that turn: of
 * commands for as many requests as came together, each alone would cost more than all that is in it.
 */
export function writeTogether(stream: Pick<Writable, 'cork' | 'uncork' | 'write'>): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let corked = false;
  const flush = () => {
    corked = false;
    stream.uncork();
  };
  stream.write = (...args: unknown[]) => {
    if (!corked) {
      corked = true;
      stream.cork();
      setImmediate(flush);
    }
    return write(...args);
  };
}
