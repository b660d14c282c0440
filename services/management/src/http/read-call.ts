import type { IncomingMessage } from 'node:http';
import { readJsonBody } from '@ori/http/body';
import { exchangeOf } from '@ori/http/exchange';
import { z } from 'zod';
import { Refusal } from '../refusal.ts';
import { describeIssue, fieldOf } from './describe-issue.ts';
import { MalformedRequest } from './presentation.ts';

const BODY_BYTES_MAX = 1_048_576;
/** A message may contain input, such as the names of unknown members. */
const TOLD_CHARACTERS_MAX = 300;
const JSON_MEDIA_TYPE = /^application\/json *(;.*)?$/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a query by its schema. A repeated parameter is refused; an unknown one is ignored. */
export function readQuery<Schema extends z.ZodType>(
  schema: Schema,
  query: string | undefined,
): z.output<Schema> {
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (given.has(name)) throw new Refusal('invalid_parameters', `${name}: given more than once.`);
    given.set(name, value);
  }
  return requireShape(schema, Object.fromEntries(given), ({ path }) => String(path[0]));
}

/** Reads a JSON body by its schema: RFC 8259, UTF-8, at most 1 MiB. */
export async function readJson<Schema extends z.ZodType>(
  schema: Schema,
  req: IncomingMessage,
): Promise<z.output<Schema>> {
  const mediaType = req.headers['content-type'];
  const empty =
    req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
  if (!empty && (mediaType === undefined || !JSON_MEDIA_TYPE.test(mediaType))) {
    throw new MalformedRequest({ status: 415, message: 'The body must be sent as application/json.' });
  }
  const bytes = await readJsonBody(req, { bytesMax: BODY_BYTES_MAX, deadline: exchangeOf(req).deadline });
  return requireBody(schema, parseJson(bytes));
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    // Without the parser's own error as its cause: that one quotes the body, and causes are logged.
    throw new Refusal('invalid_parameters', 'The body is not JSON in UTF-8.');
  }
}

/**
 * Judges a body that was parsed.
 *
 * @throws Refusal `invalid_parameters` with a sentence that names the field
 */
export function requireBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  return requireShape(schema, body, (issue) => fieldOf(issue) || 'The body');
}

function requireShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  subjectOf: (issue: z.core.$ZodIssue) => string,
): z.output<Schema> {
  if (!isStorable(value))
    throw new Refusal('invalid_parameters', 'Text must not contain U+0000 or lone surrogates.');
  // Not `safeParse`: it formats every issue, and only the first one is reported.
  const parsed = schema._zod.run({ value, issues: [] }, { async: false });
  if (parsed instanceof Promise) throw new TypeError('a schema of a request must not be asynchronous');
  const [first] = parsed.issues;
  if (first === undefined) return parsed.value as z.output<Schema>;
  const issue = z.core.util.finalizeIssue(first, { error: describeIssue }, z.config());
  const told = `${subjectOf(issue)}: ${issue.message}`;
  throw new Refusal('invalid_parameters', `${told.slice(0, TOLD_CHARACTERS_MAX)}.`);
}

/** Whether PostgreSQL can store every text in a JSON value. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}
