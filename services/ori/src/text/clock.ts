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
