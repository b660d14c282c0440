import { open } from '@ori/sealing/open';
import { seedContext } from '@ori/sealing/seed-context';
import { signerQueries } from '@ori/store/signer';
import { waitingForLocks } from '@ori/test-env/lock-waits';
import { createRing, createScenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { addSigningKey, retireSigningKey, revokeSigningKey, rotateSigningKey } from './signing-keys.ts';

const now = () => Math.floor(Date.now() / 1000);
const SEED = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');

describe('the operator', () => {
  const sealer = createRing();
  const store = useTestStore('postgres');

  const newIntern = async () => {
    const { internId } = await createScenario(store.owner);
    return { internId, sealer };
  };

  const keysInUse = async (internId: string) => {
    const rows = await signerQueries(store.owner).signingKeys(internId);
    return rows.filter(({ expiresAt }) => expiresAt === null || expiresAt > now());
  };

  it('stores a given seed sealed to its row, beside its public key', async () => {
    const intern = await newIntern();
    const added = await addSigningKey(store.owner, { ...intern, seed: SEED });
    expect(Buffer.from(added.publicKey).toString('base64url')).toBe(
      '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    );
    const [row] = await signerQueries(store.owner).signingKeys(intern.internId);
    if (row === undefined) throw new Error('no row');
    expect(Buffer.from(await open(sealer, row.sealedSeed, seedContext(row)))).toEqual(SEED);
    expect(row.publicKey).toEqual(added.publicKey);
    expect(SEED.every((byte) => byte === 0)).toBe(false);
    const again = await newIntern();
    const twice = addSigningKey(store.owner, { ...again, seed: SEED });
    await expect(twice).rejects.toMatchObject({ name: 'AdminError', code: 'conflict' });
  });

  it('generates a different seed each time', async () => {
    const intern = await newIntern();
    const first = await addSigningKey(store.owner, intern);
    const second = await addSigningKey(store.owner, intern);
    expect(first.kid).not.toBe(second.kid);
  });

  // SPEC.md K22.
  it('makes the first key valid immediately, and a next one after it was published for 180 s', async () => {
    const intern = await newIntern();
    const before = now();
    const first = await addSigningKey(store.owner, intern);
    const second = await addSigningKey(store.owner, intern);
    const after = now();
    expect(first.notBefore).toBeGreaterThanOrEqual(before);
    expect(first.notBefore).toBeLessThanOrEqual(after);
    expect(second.notBefore).toBeGreaterThanOrEqual(before + 180);
    expect(second.notBefore).toBeLessThanOrEqual(after + 180);
  });

  it('makes the next key valid immediately if the only one was retired', async () => {
    const intern = await newIntern();
    const { id } = await addSigningKey(store.owner, intern);
    await revokeSigningKey(store.owner, { keyId: id });
    expect((await addSigningKey(store.owner, intern)).notBefore).toBeLessThanOrEqual(now());
  });

  it('keeps a retired key published as long as its proofs may be accepted, and removes a revoked one immediately', async () => {
    const intern = await newIntern();
    const [retired, revoked, waiting] = [
      await addSigningKey(store.owner, { ...intern, notBefore: now() - 5 }),
      await addSigningKey(store.owner, { ...intern, notBefore: now() - 5 }),
      await addSigningKey(store.owner, { ...intern, notBefore: now() + 500 }),
    ];
    await retireSigningKey(store.owner, { keyId: retired.id });
    await retireSigningKey(store.owner, { keyId: waiting.id });
    await revokeSigningKey(store.owner, { keyId: revoked.id });
    const kidsAt = async (at: number) =>
      (await signerQueries(store.owner).publishedKeys(intern.internId, { at })).keys.map(({ kid }) => kid);
    expect(await kidsAt(now())).toEqual([retired.kid]);
    expect(await kidsAt(now() + 601)).toEqual([]);
    expect(await keysInUse(intern.internId)).toEqual([]);
    await expect(retireSigningKey(store.owner, { keyId: retired.id })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  // SPEC.md K23.
  it('refuses a fourth key that would be valid at the same time, and accepts one that is valid later', async () => {
    const intern = await newIntern();
    const t = 1_789_000_000;
    const key = (notBefore: number, expiresAt?: number) =>
      addSigningKey(store.owner, { ...intern, notBefore, ...(expiresAt === undefined ? {} : { expiresAt }) });
    await key(now(), now() + 100);
    await key(now(), now() + 100);
    await key(now(), now() + 100);
    await expect(key(now() + 50)).rejects.toMatchObject({ code: 'conflict' });
    await expect(key(t)).rejects.toMatchObject({ code: 'conflict' });
    await key(now() + 200);
  });

  it('refuses more keys than may be published, however short their intervals', async () => {
    const intern = await newIntern();
    const key = (n: number) =>
      addSigningKey(store.owner, { ...intern, notBefore: now() + n * 10, expiresAt: now() + n * 10 + 5 });
    for (let n = 0; n < 24; n++) await key(n);
    await expect(key(24)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('applies the limit to keys that are added concurrently', async () => {
    const intern = await newIntern();
    const waiting = () => waitingForLocks(store.owner);
    const added = await store.owner.kysely.transaction().execute(async (tx) => {
      await sql`select from interns where id = ${intern.internId} for update`.execute(tx);
      const all = Array.from({ length: 4 }, () => addSigningKey(store.owner, intern));
      const settled = Promise.allSettled(all);
      await expect.poll(waiting).toBe(4);
      return { settled };
    });
    const results = await added.settled;
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(3);
  });

  it('lets the former key expire shortly after the next one becomes valid', async () => {
    const intern = await newIntern();
    const former = await addSigningKey(store.owner, intern);
    const following = await rotateSigningKey(store.owner, intern);
    expect(following.notBefore).toBeGreaterThanOrEqual(former.notBefore + 180);
    const rows = await signerQueries(store.owner).signingKeys(intern.internId);
    expect(rows.map(({ id, expiresAt }) => [id, expiresAt])).toEqual([
      [following.id, null],
      [former.id, following.notBefore + 60],
    ]);
  });

  it('retires a former key that would become valid later than the next one', async () => {
    const intern = await newIntern();
    await addSigningKey(store.owner, { ...intern, notBefore: now() + 180 });
    const following = await rotateSigningKey(store.owner, intern);
    expect(following.notBefore).toBeLessThanOrEqual(now());
    expect(await keysInUse(intern.internId)).toMatchObject([{ id: following.id }]);
  });

  it('never extends a key that expires earlier', async () => {
    const intern = await newIntern();
    const short = await addSigningKey(store.owner, { ...intern, notBefore: now(), expiresAt: now() + 90 });
    await rotateSigningKey(store.owner, intern);
    const rows = await signerQueries(store.owner).signingKeys(intern.internId);
    expect(rows.find(({ id }) => id === short.id)?.expiresAt).toBe(short.expiresAt);
  });

  it('allows a rotation per minute for an hour, with one to three valid keys at every second', async () => {
    const intern = await newIntern();
    const published: number[] = [];
    await addSigningKey(store.owner, intern);
    for (let minute = 0; minute < 60; minute++) {
      // As if a minute had passed.
      await sql`update signing_keys set not_before = not_before - 60, expires_at = expires_at - 60
        where intern_id = ${intern.internId}`.execute(store.owner.kysely);
      await rotateSigningKey(store.owner, intern);
      published.push(
        (await signerQueries(store.owner).publishedKeys(intern.internId, { at: now() })).keys.length,
      );
    }
    expect(Math.max(...published)).toBe(15);
    const rows = await store.owner.kysely
      .selectFrom('signing_keys')
      .select(['not_before', 'expires_at'])
      .where('intern_id', '=', intern.internId)
      .execute();
    for (let at = now() - 3600; at < now(); at++) {
      const good = rows.filter((row) => row.not_before <= at && at < (row.expires_at ?? Infinity));
      expect(good.length, `second ${at}`).toBeOneOf([1, 2, 3]);
    }
  });

  it('takes its times from the database: the clock of the machine may be wrong', async () => {
    const intern = await newIntern();
    await addSigningKey(store.owner, intern);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 300_000 });
    try {
      const next = await rotateSigningKey(store.owner, intern);
      vi.useRealTimers();
      expect(next.notBefore).toBeGreaterThan(now() + 170);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    ['a seed of 31 bytes', { seed: new Uint8Array(31) }],
    ['an issuer that is not a URL', { issuer: 'issuer' }],
    ['an end before the start', { notBefore: 10, expiresAt: 10 }],
    ['a time with a fraction', { notBefore: 1.5 }],
    ['an unknown member', { sead: SEED }],
  ])('refuses %s, and quotes no seed', async (_what, wrong) => {
    const intern = await newIntern();
    const refused = addSigningKey(store.owner, { ...intern, ...wrong });
    await expect(refused).rejects.toMatchObject({ name: 'AdminError', code: 'invalid_input' });
  });

  it('refuses a key for an intern that does not exist', async () => {
    const refused = addSigningKey(store.owner, { internId: 'int_unknown', sealer });
    await expect(refused).rejects.toMatchObject({ name: 'AdminError', code: 'not_found' });
  });
});
