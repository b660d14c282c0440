import { createHash } from 'node:crypto';
import type { KekRing } from '@ori/sealing/kek-ring';
import { open, type SealContext } from '@ori/sealing/open';
import { seal } from '@ori/sealing/seal';
import { SealingError } from '@ori/sealing/sealing-error';
import type { Database } from '@ori/store/database';
import type { Principal } from '../callers/caller.ts';
import type { Call, Operation, Services } from '../operation.ts';
import { Refusal } from '../refusal.ts';
import { once } from './once-per-key.ts';

/** Printable ASCII, as a header value or as the string of a structured field. */
const KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/;

export interface Executed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
}

/** An answer as it is sealed, with the digest of the request that it belongs to. */
interface Kept extends Omit<Executed, 'pieces'> {
  readonly content: string;
  readonly body: string;
}

/**
 * Executes a request with an `Idempotency-Key` once (IETF draft-ietf-httpapi-idempotency-key-header).
 *
 * Keeps answers in the database, sealed, since that of a created API key contains the key. An answer that was sealed
 * under a KEK that has left the ring since then is lost; its request is still not executed again.
 *
 * @throws Refusal `key_used_otherwise`, `key_in_use`, `answer_lost`, `too_many_answers`, `invalid_parameters` for an
 *   unusable key
 */
export async function executeOnce(
  { db, ring }: Services,
  { method }: Operation,
  { principal, target, body }: Call<Principal, unknown, unknown>,
  { actor, key }: { readonly actor: string | undefined; readonly key: string },
  run: (within: Database) => Promise<Executed>,
): Promise<Executed> {
  if (!KEY.test(key)) {
    throw new Refusal('invalid_parameters', 'Idempotency-Key: expected 1 to 255 printable ASCII characters.');
  }
  const account = { organizationId: principal.account };
  // Each caller has keys of its own: an answer can contain a secret that another caller of the account must not read.
  const keyHash = sha256(JSON.stringify([actor, key]));
  const context = { table: 'idempotency_keys', column: 'sealed_answer', row: keyHash, ...account };
  const content = sha256(JSON.stringify([method, target, body]));
  const sealed = await once(db, account, keyHash, async (within) => {
    const { pieces, ...answer } = await run(within);
    const kept: Kept = { ...answer, content, body: Buffer.concat(pieces).toString() };
    return await seal(ring, Buffer.from(JSON.stringify(kept)), context);
  });
  const { status, headers, ...kept } = await openAnswer(ring, sealed, context);
  if (kept.content !== content) throw new Refusal('key_used_otherwise');
  return { status, headers, pieces: [Buffer.from(kept.body)] };
}

async function openAnswer(ring: KekRing, sealed: string, context: SealContext): Promise<Kept> {
  try {
    return JSON.parse(Buffer.from(await open(ring, sealed, context)).toString());
  } catch (error) {
    throw error instanceof SealingError ? new Refusal('answer_lost') : error;
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
