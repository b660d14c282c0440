import type { IncomingMessage } from 'node:http';

/**
 * Every value of a header, as sent: `req.headers` keeps one of several and hides the others.
 *
 * @param name in lower case
 */
export function valuesOf(req: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const other = req.rawHeaders[index] ?? '';
    if (other.length === name.length && other.toLowerCase() === name)
      values.push(req.rawHeaders[index + 1] ?? '');
  }
  return values;
}

/**
 * The value of a header that was sent once; undefined if it was sent twice, even with equal values: which of them another
 * server on the way believes is unknown.
 *
 * @param name in lower case
 */
export function onlyValueOf(req: Pick<IncomingMessage, 'rawHeaders'>, name: string): string | undefined {
  const values = valuesOf(req, name);
  return values.length === 1 ? values[0] : undefined;
}
