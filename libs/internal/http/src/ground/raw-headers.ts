import type { IncomingMessage } from 'node:http';

/**
 * Every value of a header, as sent: `req.headers` keeps one of several and hides the others.
 *
 * @param name in lower case
 */
export function valuesOf(req: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let at = indexOf(req, name, 0); at !== -1; at = indexOf(req, name, at + 2))
    values.push(req.rawHeaders[at + 1] ?? '');
  return values;
}

/**
 * The value of a header that was sent once; undefined if it was sent twice, even with equal values: which of them another
 * server on the way believes is unknown.
 *
 * @param name in lower case
 */
export function onlyValueOf(req: Pick<IncomingMessage, 'rawHeaders'>, name: string): string | undefined {
  const at = indexOf(req, name, 0);
  return at === -1 || indexOf(req, name, at + 2) !== -1 ? undefined : req.rawHeaders[at + 1];
}

/** The index of the next header with this name, or -1. */
function indexOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string, from: number): number {
  for (let index = from; index < rawHeaders.length; index += 2) {
    const other = rawHeaders[index] ?? '';
    if (other.length === name.length && other.toLowerCase() === name) return index;
  }
  return -1;
}
