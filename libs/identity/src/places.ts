/**
 * A limit on calls under way. Who finds no place waits in line, first come, first served, for as long as the signal
 * lets it; the reason of the signal is thrown.
 */
export function createPlaces(max: number): <T>(signal: AbortSignal, call: () => Promise<T>) => Promise<T> {
  let taken = 0;
  const line = new Set<() => void>();

  function wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        line.delete(enter);
        reject(signal.reason);
      };
      line.add(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  return async (signal, call) => {
    signal.throwIfAborted();
    // A freed place is handed to the first in line without becoming free in between.
    if (taken < max) taken += 1;
    else await wait(signal);
    try {
      return await call();
    } finally {
      const [next] = line;
      if (next === undefined) taken -= 1;
      else {
        line.delete(next);
        next();
      }
    }
  };
}
