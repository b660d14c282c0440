import type { IncomingMessage } from 'node:http';
import { readBody as readBytes } from '@ori/http/body';
import { exchangeOf } from '@ori/http/exchange';
import { onlyValueOf } from '@ori/http/raw-headers';
import { JsonError, type JsonLimits, parseStrictJson } from '@ori/http/strict-json';
import type { VerifiedProof } from '@ori/identity/dpop/possession';
import { z } from 'zod';
import type { Operation } from '../operation.ts';
import { Refusal } from '../refusal.ts';
import { describeIssue, FIELD_NAME, fieldOf } from './describe-issue.ts';

const BODY_BYTES_MAX = 1_048_576;
/** Enough for some thousand names, and far below what would delay other requests. */
const JSON_LIMITS: JsonLimits = { lengthMax: 512 * 1024, depthMax: 16, valuesMax: 5000 };
/** A message may contain input, such as the names of unknown members. */
const TOLD_CHARACTERS_MAX = 300;
const JSON_MEDIA_TYPE = /^application\/json *(;.*)?$/i;
const TOLD: Readonly<Record<JsonError['code'], string>> = {
  not_json: 'not JSON in UTF-8',
  duplicate_member: 'not acceptable: an object has two members of one name',
  beyond_limits: 'too large, too deep or has too many values',
};

/**
 * Reads the query of an operation by its schema. A parameter must not be repeated. One that is unknown is refused, as an
 * unknown member of a body is, where the operation has 400; elsewhere it is ignored.
 */
export function readQuery(
  { query: schema, invalidExample }: Pick<Operation, 'query' | 'invalidExample'>,
  query: string | undefined,
): unknown {
  const known = schema instanceof z.ZodObject ? schema.shape : {};
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (Object.hasOwn(known, name)) {
      if (given.has(name)) throw new Refusal('invalid_parameters', `${name}: given more than once.`);
      given.set(name, value);
    } else if (invalidExample !== undefined) {
      const names = Object.keys(known);
      const accepted = names.length === 0 ? 'takes none' : `takes ${names.join(', ')}`;
      const subject = FIELD_NAME.test(name) ? `${name}: unknown parameter` : 'An unknown parameter';
      throw new Refusal('invalid_parameters', `${subject}; the operation ${accepted}.`);
    }
  }
  return schema && requireShape(schema, Object.fromEntries(given), ({ path }) => String(path[0]));
}

type Members = Readonly<Record<string, unknown>>;

/** The body that a request has, by the schema of its operation, and members of the record that came back with it. */
interface ReadBody<Schema extends z.ZodType> {
  readonly body: z.output<Schema> | undefined;
  readonly returned: Members;
}

/**
 * Reads the body that an operation takes, by its schema: JSON of RFC 8259, UTF-8, at most 1 MiB. That of a bound session
 * is what its DPoP proof covers, which is no content for an operation that takes none.
 *
 * @param readOnly the members of the record that the operation does not change, and that a client may send back
 */
export async function readBody<Schema extends z.ZodType>(
  schema: Schema | undefined,
  req: IncomingMessage,
  proven: VerifiedProof | undefined,
  readOnly: ReadonlySet<string>,
): Promise<ReadBody<Schema>> {
  if (schema === undefined) {
    proven?.requireContent(isEmpty(req) ? Buffer.alloc(0) : undefined);
    return { body: undefined, returned: {} };
  }
  const bytes = await readJson(req);
  proven?.requireContent(bytes);
  const { returned, rest } = withoutReadOnly(parseJson(bytes), readOnly);
  return { body: requireBody(schema, rest), returned };
}

function withoutReadOnly(json: unknown, readOnly: ReadonlySet<string>): { returned: Members; rest: unknown } {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return { returned: {}, rest: json };
  const members = Object.entries(json);
  const [returned, rest] = [true, false].map((wanted) =>
    Object.fromEntries(members.filter(([name]) => readOnly.has(name) === wanted)),
  );
  return { returned: returned ?? {}, rest };
}

function isEmpty({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

async function readJson(req: IncomingMessage): Promise<Buffer> {
  const mediaType = onlyValueOf(req, 'content-type');
  if (!isEmpty(req) && (mediaType === undefined || !JSON_MEDIA_TYPE.test(mediaType))) {
    throw new Refusal('unsupported_media_type');
  }
  const { deadline } = exchangeOf(req);
  return readBytes(req, { bytesMax: BODY_BYTES_MAX, deadline });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return parseStrictJson(bytes, JSON_LIMITS);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new Refusal('invalid_parameters', `The body is ${TOLD[error.code]}.`);
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
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw new TypeError('a shape refused a value and named no issue');
  const told = `${subjectOf(issue)}: ${issue.message}`;
  throw new Refusal('invalid_parameters', `${told.slice(0, TOLD_CHARACTERS_MAX)}.`);
}

/** Whether PostgreSQL can store every text in a JSON value. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}
