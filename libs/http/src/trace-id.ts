import type { IncomingMessage } from 'node:http';

/** W3C Trace Context, section 3.2.2; a later version may append fields. */
const TRACEPARENT =
  /^(?!ff)(?:00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$|(?!00)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$))/;
const NOTHING = /^.{3}0{32}|^.{36}0{16}/;

/** The trace that the caller says a request belongs to; undefined where it says nothing usable. */
export function traceIdOf(req: Pick<IncomingMessage, 'headers'>): string | undefined {
  const given = req.headers['traceparent'];
  if (typeof given !== 'string' || !TRACEPARENT.test(given) || NOTHING.test(given)) return undefined;
  return given.slice(3, 35);
}
