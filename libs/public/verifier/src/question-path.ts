/** Before the nonce of the call that a question is about. */
export const QUESTION_PATH = '/.well-known/ori/calls/';

export function isQuestion(path: string): boolean {
  return path.startsWith(QUESTION_PATH);
}

/**
 * Whether a server that decodes escapes, merges slashes, resolves dots or ignores case may route this path as one of a question
 * (SPEC.md, V20).
 */
export function leadsToQuestion(path: string): boolean {
  // Most paths have neither.
  if (!path.includes('%') && !/well-known/i.test(path)) return false;
  const decoded = path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const segments: string[] = [];
  for (const segment of decoded.toLowerCase().split(/[/\\]/)) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.slice(0, 3).join('/')}/` === QUESTION_PATH;
}
