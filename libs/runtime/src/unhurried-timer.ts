/** A time limit is counted in so many parts. */
const PARTS = 4;

/**
 * Calls `expire` after `ms`, not counting time in which this process was blocked or not scheduled: it reads no answers then. Each
 * stall uses up at most a quarter of the time, and pending input is read before the call.
 *
 * @returns cancels it
 */
export function startUnhurriedTimer(ms: number, expire: () => void): () => void {
  let left = PARTS;
  let reading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    left -= 1;
    if (left > 0) timer.refresh();
    else reading = setImmediate(expire);
  }, ms / PARTS);
  return () => {
    clearTimeout(timer);
    clearImmediate(reading);
  };
}
