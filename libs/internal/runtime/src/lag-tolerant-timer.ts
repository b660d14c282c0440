/** The number of intervals that a time limit is divided into. */
const PARTS = 8;

interface Waiting {
  partsLeft: number;
  isOver: boolean;
  readonly expire: () => void;
}

/**
 * Time limits of `ms`, and about an eighth more, that do not count time in which this process was blocked or not scheduled and so
 * could not read answers: each stall uses about an eighth of a limit, and pending input is read before it expires. They share
 * one timer, because most waits end before its first interval does.
 *
 * @returns starts a limit, after which `expire` is called, and returns what cancels it
 */
export function lagTolerantTimers(ms: number): (expire: () => void) => () => void {
  // Node ignores a fraction of a millisecond.
  const partMs = Math.ceil(ms / PARTS);
  let waiting: Waiting[] = [];
  let isRunning = false;

  function run(): void {
    isRunning = true;
    const timer = setTimeout(() => {
      waiting = waiting.filter((one) => !one.isOver && !isDue(one));
      isRunning = waiting.length > 0;
      if (isRunning) timer.refresh();
    }, partMs).unref();
  }

  return (expire) => {
    // The interval that has begun does not count.
    const one: Waiting = { partsLeft: isRunning ? PARTS + 1 : PARTS, isOver: false, expire };
    waiting.push(one);
    if (!isRunning) run();
    return () => {
      one.isOver = true;
    };
  };
}

function isDue(one: Waiting): boolean {
  one.partsLeft -= 1;
  if (one.partsLeft > 0) return false;
  setImmediate(() => one.isOver || one.expire());
  return true;
}
