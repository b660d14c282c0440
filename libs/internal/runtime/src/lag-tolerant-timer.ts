/** The number of intervals that a time limit is divided into. */
const PARTS = 4;

/**
 * Calls `expire` after `ms`, not counting time in which this process was blocked or not scheduled and so could not read
 * answers. Each stall uses at most a quarter of the time, and pending input is read before the call.
 *
 * @returns cancels the timer
 */
export function startLagTolerantTimer(ms: number, expire: () => void): () => void {
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
