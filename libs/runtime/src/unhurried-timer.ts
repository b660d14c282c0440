/** A time limit is counted in so many parts. */
const PARTS = 4;

/**
 * Calls `expire` after `ms` of which this process was there to notice. A process that is busy, or that the system does not
 * run, reads no answers either: at most a quarter of the time passes meanwhile, and what has come is read before the call.
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
