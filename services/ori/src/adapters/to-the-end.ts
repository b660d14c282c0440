let running = 0;
let exit: number | undefined;
let isAbandoned = false;

/**
 * Runs `work` to its end, whatever signals arrive meanwhile: a refresh token is spent before its successor is stored.
 * The time limits of `work` bound the wait.
 */
export async function toTheEnd<T>(work: () => Promise<T>): Promise<T> {
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    if (running === 0 && exit !== undefined) process.exit(exit);
  }
}

/** Says that work goes on for which nobody waits any more, so that the process would not end by itself. */
export function abandon(): void {
  isAbandoned = true;
}

export const hasAbandoned = (): boolean => isAbandoned;

/** Exits now, or when all that runs {@link toTheEnd} has ended. */
export function exitAtTheEnd(code: number): void {
  if (running === 0) process.exit(code);
  exit = code;
}
