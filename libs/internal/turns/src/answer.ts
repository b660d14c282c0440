/**
 * Parses the reply of a turn counter's script. An unexpected reply must not be taken for a refusal.
 *
 * @throws TypeError
 */
export function requireIntegers(answer: unknown, count: number): number[] {
  if (Array.isArray(answer) && answer.length === count && answer.every(Number.isSafeInteger)) return answer;
  throw new TypeError('unexpected reply of a turn counter from Redis');
}
