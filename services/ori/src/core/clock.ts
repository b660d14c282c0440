/** Smaller differences, in seconds, are ignored: a `Date` header has whole seconds, and takes time to arrive. */
const CLOCK_TOLERANCE_SECONDS = 30;

/**
 * How many seconds this computer's clock is ahead of the server that dated an answer (RFC 9110, section
 * 6.6.1; `Age` by RFC 9111, section 5.1); negative if behind, undefined if the answer has no date.
 */
export function clockAheadSeconds(
  { date, age }: { date?: string | null | undefined; age?: string | null | undefined },
  nowSeconds: number,
): number | undefined {
  const dated = Math.floor(Date.parse(date ?? '') / 1000);
  if (Number.isNaN(dated)) return undefined;
  return nowSeconds - dated - (/^\d{1,9}$/.test(age ?? '') ? Number(age) : 0);
}

/** True for a difference that breaks comparisons of times. */
export function isClockWrong(aheadSeconds: number | undefined): aheadSeconds is number {
  return aheadSeconds !== undefined && Math.abs(aheadSeconds) > CLOCK_TOLERANCE_SECONDS;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Describes the difference of a clock, such as `1 day ahead`, in one rounded unit. */
export function tellClock(aheadSeconds: number): string {
  const seconds = Math.abs(aheadSeconds);
  const [unit, length] = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds * 0.99) ?? ['second', 1];
  const count = Math.round(seconds / length);
  return `${count} ${unit}${count === 1 ? '' : 's'} ${aheadSeconds > 0 ? 'ahead' : 'behind'}`;
}
