/** What RFC 8628, section 3.5, adds for each `slow_down`. */
const SLOWER_SECONDS = 5;
const INTERVAL_SECONDS_MAX = 60;

/** The answer to a poll: not yet, too often, or none. */
export type PollAnswer = 'authorization_pending' | 'slow_down' | 'none';

/** The seconds to the next poll (RFC 8628, section 3.5): the interval only grows, and doubles without an answer. */
export function nextIntervalSeconds(seconds: number, answer: PollAnswer): number {
  if (answer === 'authorization_pending') return seconds;
  const slower = answer === 'slow_down' ? seconds + SLOWER_SECONDS : seconds * 2;
  return Math.max(seconds, Math.min(slower, INTERVAL_SECONDS_MAX));
}
