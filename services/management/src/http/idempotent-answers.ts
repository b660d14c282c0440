import { createHash } from 'node:crypto';
import type { KekRing } from '@ori/sealing/kek-ring';
import { open, type SealContext, seal } from '@ori/sealing/seal';
import { SealingError } from '@ori/sealing/sealing-error';
import { type ManagementQueries, type OperationQueries, TooManyAnswers } from '@ori/store/management';
import type { Principal } from '../callers/caller.ts';
import { Refusal } from '../refusal.ts';
import type { Call, Operation } from './operation.ts';

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
 * Requests with an `Idempotency-Key` (IETF draft-ietf-httpapi-idempotency-key-header).
 *
 * Keeps answers in the store, sealed, since that of a created API key contains the key. An answer that was sealed under
 * a KEK that has left the ring since then is lost; its request is still not executed again.
 */
export function createAnswers(store: Pick<ManagementQueries, 'once'>, ring: KekRing) {
  return {
    /** @throws Refusal `key_used_otherwise`, `key_in_use`, `answer_lost`, `too_many_answers`, `invalid_parameters` for an unusable key */
    async once(
      { method }: Operation,
      { principal, target, body }: Call<Principal, unknown, unknown>,
      key: string,
      run: (store: OperationQueries) => Promise<Executed>,
    ): Promise<Executed> {
      if (!KEY.test(key)) {
        throw new Refusal(
          'invalid_parameters',
          'Idempotency-Key: expected 1 to 255 printable ASCII characters.',
        );
      }
      const account = { organizationId: principal.account };
      const keyHash = sha256(key);
      const context = {
        table: 'idempotency_keys',
        column: 'sealed_answer',
        row: keyHash,
        ...account,
      };
      const content = sha256(JSON.stringify([method, target, body]));
      const outcome = await store
        .once(account, keyHash, async (queries) => {
          const { pieces, ...answer } = await run(queries);
          const kept: Kept = { ...answer, content, body: Buffer.concat(pieces).toString() };
          return await seal(ring, Buffer.from(JSON.stringify(kept)), context);
        })
        .catch((error) => {
          throw error instanceof TooManyAnswers ? new Refusal('too_many_answers') : error;
        });
      if (outcome === 'running') throw new Refusal('key_in_use');
      const { status, headers, ...kept } = await openAnswer(ring, outcome.sealed, context);
      if (kept.content !== content) throw new Refusal('key_used_otherwise');
      return { status, headers, pieces: [Buffer.from(kept.body)] };
    },
  };
}

export type Answers = ReturnType<typeof createAnswers>;

async function openAnswer(ring: KekRing, sealed: string, context: SealContext): Promise<Kept> {
  try {
    return JSON.parse(Buffer.from(await open(ring, sealed, context)).toString());
  } catch (error) {
    throw error instanceof SealingError ? new Refusal('answer_lost') : error;
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
