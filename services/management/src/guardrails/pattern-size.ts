import { Refusal } from '../refusal.ts';
import type { CustomFilter } from './shape.ts';

/** How large a pattern may become when its counted repetitions are written out, in characters to be matched. */
const PATTERN_SIZE_MAX = 5000;

/**
 * Requires patterns that cost little to compile, whatever the machine is busy with. Says nothing of their syntax.
 *
 * @throws Refusal `invalid_parameters` naming the first pattern that is too large
 */
export function requireModestPatterns(filters: readonly CustomFilter[]): void {
  const large = filters.findIndex(({ pattern }) => patternSize(pattern) > PATTERN_SIZE_MAX);
  if (large === -1) return;
  throw new Refusal(
    'invalid_parameters',
    `content_filters.${large}.pattern: too large with its repetitions written out.`,
  );
}

const TOKEN =
  /\\Q[\s\S]*?(?:\\E|$)|\\(?:[pPx]\{[^}]*\}|[\s\S])|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;

/**
 * The size of a regular expression with its counted repetitions written out: what compiling it in a linear-time
 * engine costs, near enough. It judges no syntax; what is no pattern at all has some size too.
 */
export function patternSize(pattern: string): number {
  const groups = [{ before: 0, atom: 0 }];
  const top = () => groups[groups.length - 1] ?? { before: 0, atom: 0 };
  const add = (size: number) => {
    const group = top();
    group.before += group.atom;
    group.atom = size;
  };
  for (const [token, least, most] of pattern.matchAll(TOKEN)) {
    if (token === '(') groups.push({ before: 0, atom: 0 });
    else if (token === ')' && groups.length > 1) {
      const { before, atom } = groups.pop() ?? { before: 0, atom: 0 };
      add(before + atom + 1);
    } else if (least !== undefined) top().atom *= Math.max(Number(least), Number(most ?? 0), 1);
    else add(token.startsWith('\\Q') ? token.length : 1);
  }
  return groups.reduce((sum, { before, atom }) => sum + before + atom, 0);
}
