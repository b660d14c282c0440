import { addSigningKey, revokeSigningKey } from '@ori/administration/signing-keys';
import { createRing, createScenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { type SignerQueries, signerQueries } from './signer-sql.ts';

const T = 1_789_000_000;

describe('signing keys, queried as the signer', () => {
  const sealer = createRing();
  const store = useTestStore('postgres');
  let signer: SignerQueries;
  beforeAll(async () => {
    signer = signerQueries(store.as('ori_signer'));
  });

  const addKey = (internId: string, notBefore: number, expiresAt?: number) =>
    addSigningKey(store.owner, {
      internId,
      sealer,
      notBefore,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    });

  it('are sorted newest first, and include all that are not retired', async () => {
    const { internId } = await createScenario(store.owner);
    const former = await addKey(internId, T, T + 10);
    const current = await addKey(internId, T + 5);
    const retired = await addKey(internId, T + 6);
    await revokeSigningKey(store.owner, { keyId: retired.id });
    const rows = await signer.signingKeys(internId);
    expect(rows.map((key) => key.id)).toEqual([current.id, former.id]);
    const { keys: published } = await signer.publishedKeys(internId, { at: T });
    expect(published.map((key) => key.kid)).toEqual([current.kid, former.kid]);
    expect(rows[1]).toEqual({ ...former, internId, sealedSeed: expect.any(String), statement: null });
  });

  // SPEC.md K24.
  it('are published before they are valid, and until their last proofs are too old', async () => {
    const { internId } = await createScenario(store.owner);
    const { kid, publicKey } = await addKey(internId, T, T + 1000);
    const publishedAt = async (at: number) =>
      (await signer.publishedKeys(internId, { at })).keys.map((key) => key.kid);
    expect(await publishedAt(T - 100_000)).toEqual([kid]);
    expect(await publishedAt(T - 180)).toEqual([kid]);
    expect(await publishedAt(T + 1000 + 599)).toEqual([kid]);
    expect(await publishedAt(T + 1000 + 600)).toEqual([]);
    expect(await signer.publishedKeys(internId, { at: T })).toEqual({
      keys: [{ kid, publicKey, notBefore: T, expiresAt: T + 1000, statement: null }],
      answerKeys: [],
    });
  });

  it('belong to the requested intern only', async () => {
    const { internId } = await createScenario(store.owner);
    const other = await createScenario(store.owner);
    const { kid } = await addKey(internId, T);
    await addKey(other.internId, T);
    expect((await signer.publishedKeys(internId, { at: T })).keys.map((key) => key.kid)).toEqual([kid]);
    expect((await signer.signingKeys(internId)).map((key) => key.kid)).toEqual([kid]);
  });

  it('are at most the newest 32, whoever wrote the rows', async () => {
    const { internId } = await createScenario(store.owner);
    await sql`
      insert into signing_keys (id, intern_id, kid, public_key, sealed_seed, kek, not_before)
      select ${internId} || '-' || n, ${internId}, ${internId} || '-' || n, sha256(n::text::bytea), '', '', n
      from generate_series(1, 33) as n`.execute(store.owner.kysely);
    const newest = Array.from({ length: 32 }, (_, index) => 33 - index);
    const { keys } = await signer.publishedKeys(internId, { at: T });
    for (const rows of [await signer.signingKeys(internId), keys])
      expect(rows.map(({ notBefore }) => Number(notBefore))).toEqual(newest);
  });

  it('are empty for an unknown intern', async () => {
    expect(await signer.publishedKeys('int_unknown', { at: T })).toEqual({ keys: [], answerKeys: [] });
    expect(await signer.signingKeys('int_unknown')).toEqual([]);
  });
});
