import { randomBytes } from 'node:crypto';
import { createSigningKey } from '@ori/proof/signing';
import { KekRing } from '@ori/sealing/kek-ring';
import { seal } from '@ori/sealing/seal';
import { seedContext } from '@ori/sealing/seed-context';
import type { Database } from '@ori/store/database';
import type { Schema } from '@ori/store/schema';
import { AdminError, requireInput, translateConstraints } from '@ori/store/writes/admin-error';
import { idSchema, newId, secondsSchema } from '@ori/store/writes/ids';
import { sql, type Transaction } from 'kysely';
import { z } from 'zod';
import { changeRow } from './change-row.ts';
import { defaultNotBefore, endsAfter, lockIntern, requireRoomFor } from './key-intervals.ts';
import { endKey, type KeyStater, makeStatement, STATED } from './key-statements.ts';
import { nowSeconds } from './now-seconds.ts';

/** How long the former key stays valid after a new one took over, in seconds. */
const ROTATION_OVERLAP_SECONDS = 60;

const newSigningKey = z.strictObject({
  internId: idSchema,
  /** The ring whose first key seals the seed. */
  sealer: z.instanceof(KekRing, { error: 'expected a KEK ring' }),
  /** States that the intern has the key, where the deployment has a root. */
  stater: z.custom<KeyStater>().optional(),
  /** Random by default. The caller wipes its own copy. */
  seed: z
    .instanceof(Uint8Array, { error: 'expected bytes' })
    .refine((seed) => seed.length === 32, 'expected 32 bytes')
    .optional(),
  /** Default: now if the intern has no key in use, otherwise 180 s from now. */
  notBefore: secondsSchema.optional(),
  /** Exclusive; without it and `lifetimeSeconds`, the key does not expire. */
  expiresAt: secondsSchema.optional(),
  lifetimeSeconds: z.int().min(1).optional(),
});

export type NewSigningKey = z.input<typeof newSigningKey>;

/**
 * Adds a signing key to the intern: generates or takes the seed, seals it to intern and row, and stores it with the public key.
 *
 * @throws AdminError `invalid_input`, `not_found` (no such intern), `conflict` (a key that exists, or more keys good
 *   at one time than a verifier tries)
 */
export async function addSigningKey(db: Database, input: NewSigningKey): Promise<AddedSigningKey> {
  const key = requireInput(newSigningKey, input);
  return await db.kysely.transaction().execute((tx) => addSigningKeyIn(tx, key));
}

/** What seals the seeds of new keys, who states the keys, and how long they last. */
export type SigningHome = Pick<NewSigningKey, 'sealer' | 'stater' | 'lifetimeSeconds'>;

/** The same within a transaction. */
export async function addSigningKeyIn(tx: Transaction<Schema>, key: NewSigningKey): Promise<AddedSigningKey> {
  await lockIntern(tx, key.internId);
  return await insertKey(tx, key, key.notBefore ?? (await defaultNotBefore(tx, key.internId)));
}

/**
 * Adds the next key of the intern and lets the former ones expire 60 s after it becomes valid. A signer
 * signs with the newest valid key, so the overlap only serves signers that read the rows just before; proofs by the
 * former key stay valid by their own timestamps.
 *
 * A published key that is not yet valid keeps its time, so rotations may follow each other faster than the lead time:
 * one per minute stays within the limits on published and tried keys.
 *
 * @throws AdminError like `addSigningKey`
 */
export async function rotateSigningKey(db: Database, input: NewSigningKey): Promise<AddedSigningKey> {
  const key = requireInput(newSigningKey, input);
  return await db.kysely.transaction().execute(async (tx) => {
    await lockIntern(tx, key.internId);
    const notBefore = key.notBefore ?? (await defaultNotBefore(tx, key.internId));
    const end = notBefore + ROTATION_OVERLAP_SECONDS;
    await sql`
      update signing_keys set retired_at = now()
      where intern_id = ${key.internId} and retired_at is null and not_before >= ${end}`.execute(tx);
    const ending = await tx
      .selectFrom('signing_keys')
      .select(STATED)
      .where('intern_id', '=', key.internId)
      .where('retired_at', 'is', null)
      .where('not_before', '<', end)
      .where(endsAfter(end))
      .orderBy('id')
      // One may be retired, or stated, at the same moment.
      .forUpdate()
      .execute();
    for (const row of ending) await endKey(tx, row, end, key.stater);
    return await insertKey(tx, key, notBefore);
  });
}

/**
 * Expires the key now, for a key that is no longer needed. It stays published for 600 s, so that its proofs can still
 * be verified.
 *
 * @param stater needed for a key that carries a statement
 * @throws AdminError `not_found` for a key that does not exist or has expired; `conflict` as `rotateSigningKey`
 */
export async function retireSigningKey(
  db: Database,
  { keyId, stater }: { readonly keyId: string; readonly stater?: KeyStater | undefined },
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const now = await nowSeconds(tx);
    const key = await tx
      .selectFrom('signing_keys')
      .select(STATED)
      .where('id', '=', keyId)
      .where('retired_at', 'is', null)
      .where(endsAfter(now))
      .forUpdate()
      .executeTakeFirst();
    if (key === undefined) throw new AdminError('not_found', `no signing key ${keyId} that is in use`);
    if (key.not_before < now) return await endKey(tx, key, now, stater);
    // A key that is not yet valid has signed nothing, and an interval that ends before it starts is empty.
    await sql`update signing_keys set retired_at = now() where id = ${keyId}`.execute(tx);
  });
}

/**
 * Removes the key from use and from the published set immediately, for a key that must not be trusted. A verifier that
 * has fetched the new set accepts none of its proofs, whatever their timestamps.
 *
 * @throws AdminError `not_found`
 */
export async function revokeSigningKey(db: Database, { keyId }: { readonly keyId: string }): Promise<void> {
  const change = sql`update signing_keys set retired_at = now() where id = ${keyId} and retired_at is null`;
  await changeRow(db, `signing key ${keyId}, or it is withdrawn already`, change);
}

async function insertKey(tx: Transaction<Schema>, input: NewSigningKey, notBefore: number) {
  const { internId, sealer, lifetimeSeconds } = input;
  const expiresAt = input.expiresAt ?? (lifetimeSeconds === undefined ? null : notBefore + lifetimeSeconds);
  if (expiresAt !== null && expiresAt <= notBefore) {
    throw new AdminError(
      'invalid_input',
      `expiresAt: expected a time after ${notBefore}, when the key begins`,
    );
  }
  await requireRoomFor(tx, { internId, notBefore, expiresAt, now: await nowSeconds(tx) });
  const id = newId('key');
  const seed = input.seed === undefined ? new Uint8Array(randomBytes(32)) : Uint8Array.from(input.seed);
  try {
    const { kid, publicKey } = createSigningKey(seed);
    const sealedSeed = await seal(sealer, seed, seedContext({ id, internId }));
    await translateConstraints('signing key', () =>
      tx
        .insertInto('signing_keys')
        .values({
          id,
          intern_id: internId,
          kid,
          public_key: publicKey,
          sealed_seed: sealedSeed,
          kek: sealer.primary.kid,
          not_before: notBefore,
          expires_at: expiresAt,
          statement: makeStatement(
            { intern_id: internId, public_key: publicKey, not_before: notBefore, expires_at: expiresAt },
            input.stater,
          ),
        })
        .execute(),
    );
    return { id, kid, publicKey, notBefore, expiresAt };
  } finally {
    seed.fill(0);
  }
}

export type AddedSigningKey = Awaited<ReturnType<typeof insertKey>>;
