/** The maximum size of one pattern, and of all patterns of one request, with counted repetitions expanded. */
export const PATTERN_SIZE_MAX = 5000;
export const PATTERNS_SIZE_MAX = 60_000;
/** A Unicode class (`\pL`) has some hundred ranges, each of which costs as much as a character. */
const UNICODE_CLASS_SIZE = 200;

const TOKEN =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|[\s\S])|\\(?:x\{[^}]*\}|[\s\S])|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;

/**
 * The size of a regular expression with its counted repetitions expanded, which approximates the cost of compiling it
 * in a linear-time engine. Does not check the syntax; an invalid pattern has a size too.
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
    else add(tokenSize(token));
  }
  return groups.reduce((sum, { before, atom }) => sum + before + atom, 0);
}

function tokenSize(token: string): number {
  if (token.startsWith('\\Q')) return token.length;
  const unicodeClasses = token.match(/\\[pP]/g)?.length ?? 0;
  return Math.max(1, unicodeClasses * UNICODE_CLASS_SIZE);
}
