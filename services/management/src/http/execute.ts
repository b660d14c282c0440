import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { isMatch } from '@ori/http/if-none-match';
import { whileLocked } from '@ori/store/tenant';
import { z } from 'zod';
import type { Principal } from '../callers/caller.ts';
import type { Call, JsonOperation, Operation, Services } from '../operation.ts';
import { Refusal } from '../refusal.ts';
import { type Executed, executeOnce } from './idempotency.ts';
import { jsonPieces } from './json-pieces.ts';

/** The headers of a request that make its execution depend on what was before. */
export interface Conditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly idempotencyKey: string | undefined;
}

type AnyCall = Call<Principal, unknown, unknown>;

/** The operation that reads the record that another one changes or deletes: the GET on the same path. */
export function readerOf(
  { method, path }: Operation,
  operations: readonly Operation[],
): JsonOperation | undefined {
  if (method !== 'PATCH' && method !== 'DELETE') return undefined;
  const reader = operations.find((other) => other.path === path && other.method === 'GET');
  return reader !== undefined && 'result' in reader ? reader : undefined;
}

/** The members of the record that a change cannot change: those that its body does not have. */
export function readOnlyOf({ body }: Operation, reader: JsonOperation | undefined): ReadonlySet<string> {
  if (!(reader?.result instanceof z.ZodObject && body instanceof z.ZodObject)) return new Set();
  const record: unknown = reader.result.shape['data'];
  if (!(record instanceof z.ZodObject)) return new Set();
  return new Set(Object.keys(record.shape).filter((name) => !Object.hasOwn(body.shape, name)));
}

/** @throws Refusal `invalid_parameters` for a read-only member that differs from the record */
async function requireUnchanged(
  call: AnyCall,
  reader: JsonOperation | undefined,
  services: Services,
): Promise<void> {
  const given = Object.entries(call.returned);
  if (given.length === 0 || reader === undefined) return;
  const { data } = (await reader.run(call, services)) as { data: Readonly<Record<string, unknown>> };
  const differing = given.find(([name, value]) => !isDeepStrictEqual(value, data[name]));
  if (differing !== undefined) {
    throw new Refusal('invalid_parameters', `${differing[0]}: cannot be changed. Leave it out.`);
  }
}

/**
 * Runs an operation, as its conditions ask for: `If-Match` on a change or deletion compares the record in the
 * transaction that changes it; a POST with an `Idempotency-Key` is executed once.
 *
 * @throws Refusal `precondition_failed`, `key_used_otherwise`, `key_in_use`, `answer_lost`, `too_many_answers`
 */
export async function execute(
  operation: Operation,
  call: AnyCall,
  { ifMatch, ifNoneMatch, idempotencyKey }: Conditions,
  {
    services,
    reader,
    actor,
  }: { services: Services; reader: JsonOperation | undefined; actor: string | undefined },
): Promise<Executed> {
  if (operation.method === 'POST' && idempotencyKey !== undefined) {
    const key = { actor, key: idempotencyKey };
    return await executeOnce(services, operation, call, key, (db) =>
      run(operation, call, { ...services, db }),
    );
  }
  if (reader !== undefined && ifMatch !== undefined) {
    return await whileLocked(services.db, async (db) => {
      const within = { ...services, db };
      const current = (await reader.run(call, within)) as object;
      if (!isStrongMatch(ifMatch, tagOf(current))) throw new Refusal('precondition_failed');
      await requireUnchanged(call, reader, within);
      return await run(operation, call, within);
    });
  }
  await requireUnchanged(call, reader, services);
  const executed = await run(operation, call, services);
  const { 'content-type': _, ...headers } = executed.headers;
  const isKnown = operation.method === 'GET' && headers['etag'] && isMatch(ifNoneMatch, headers['etag']);
  return isKnown ? { status: 304, headers, pieces: [] } : executed;
}

async function run(operation: Operation, call: AnyCall, services: Services): Promise<Executed> {
  const { status } = operation;
  if ('mediaTypes' in operation) {
    const { headers, bytes } = await operation.run(call, services);
    return { status, headers, pieces: [bytes] };
  }
  const answer = (await operation.run(call, services)) as object;
  const etag = answersRecord(operation) ? { etag: tagOf(answer) } : {};
  // A record may be kept to ask with its tag whether it changed; nothing else is kept.
  const headers = { ...etag, 'content-type': 'application/json', 'cache-control': 'no-store' };
  return { status, headers, pieces: await jsonPieces(answer) };
}

export function sendExecuted(res: ServerResponse, { status, headers, pieces }: Executed): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  // Node knows the length of a body that it sends, but not of one that HEAD leaves out.
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (status !== 304) res.setHeader('content-length', length);
  res.statusCode = status;
  for (const piece of pieces) res.write(piece);
  res.end();
}

/** Whether an operation answers with one record, in `data`. */
export function answersRecord(operation: Operation): boolean {
  if (!('result' in operation) || !(operation.result instanceof z.ZodObject)) return false;
  return operation.result.shape['data'] instanceof z.ZodObject;
}

/** The strong entity tag of a record as it is shown, whatever the order of its fields. */
function tagOf(answer: object): string {
  const { data = {} } = answer as { readonly data?: object };
  const fields = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1));
  return `"${createHash('sha256').update(JSON.stringify(fields)).digest('base64url')}"`;
}

/** If-Match (RFC 9110, section 13.1.1): strong comparison with each entity tag, or `*`. */
function isStrongMatch(ifMatch: string, tag: string): boolean {
  return ifMatch.split(',').some((one) => one.trim() === '*' || one.trim() === tag);
}
