/**
 * What a script of the turn counters answered. Anything else says nothing about turns, and must not be taken for a refusal.
 *
 * @throws TypeError
 */
export function requireIntegers(answer: unknown, count: number): number[] {
  if (Array.isArray(answer) && answer.length === count && answer.every(Number.isSafeInteger)) return answer;
  throw new TypeError('Redis gave an answer that no turn counter gives');
}
