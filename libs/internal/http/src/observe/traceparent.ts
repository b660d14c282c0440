/** The caller's place in a trace: W3C Trace Context, section 3.2. Ids are lower-case hex and not all zero. */
export interface Traceparent {
  readonly traceId: string;
  readonly parentId: string;
  /** Two hex digits. */
  readonly flags: string;
}

/** Versions after 00 may append fields; version ff is invalid. */
const TRACEPARENT =
  /^(?!ff)(?:00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$|(?!00)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$))/;
const ALL_ZERO = /^.{3}0{32}|^.{36}0{16}/;

/** Reads a `traceparent`; undefined if it is absent or invalid, neither of which is an error. */
export function parseTraceparent(given: unknown): Traceparent | undefined {
  if (typeof given !== 'string' || !TRACEPARENT.test(given) || ALL_ZERO.test(given)) return undefined;
  return { traceId: given.slice(3, 35), parentId: given.slice(36, 52), flags: given.slice(53, 55) };
}
