import type { IncomingMessage } from 'node:http';

/**
 * Every value of a header, as sent: `req.headers` keeps one of several and hides the others.
 *
 * @param name in lower case
 */
export function valuesOf(req: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  return req.rawHeaders.filter(
    (_, index, list) => index % 2 === 1 && list[index - 1]?.toLowerCase() === name,
  );
}
