import { createRing, createScenario } from '@ori/test-env/scenario';
import { DIALECTS, type TestStore, useTestStore } from '@ori/test-env/stores';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createApiKey } from './queries/admin/api-keys.ts';
import { addSigningKey } from './queries/admin/signing-keys.ts';
import { open } from './sealing/seal.ts';
import { seedContext } from './sealing/seed-context.ts';
import { signerQueries } from './signer-sql.ts';

/** Every value of every table as text; bytes as hex. */
async function dump({ owner }: Pick<TestStore, 'owner'>): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`.execute(
    owner.kysely,
  );
  const parts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(
      owner.kysely,
    );
    parts.push(...rows.map(({ row }) => row));
  }
  return parts.join('\n');
}

/** A secret in every encoding in which it could leak. */
function spellings(secret: Uint8Array): string[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((shift) =>
    bytes
      .subarray((3 - shift) % 3, 30)
      .toString('base64')
      .slice(0, 32),
  );
  return [bytes.toString('latin1'), bytes.toString('hex'), bytes.toString('base64url'), ...base64];
}

describe.each(DIALECTS)('a dump of %s', (dialect) => {
  const store = useTestStore(dialect);
  const sealer = createRing();

  it('contains no seed, KEK or API key, but their names and hashes', async () => {
    const { internId, workspaceId, organizationId } = await createScenario(store.owner);
    const seed = new Uint8Array(32).map(() => Math.floor(Math.random() * 256));
    const { kid } = await addSigningKey(store.owner, { internId, sealer, seed });
    const keys = [
      await createApiKey(store.owner, { kind: 'api', name: 'ci', workspaceId }),
      await createApiKey(store.owner, { kind: 'api', name: 'own', workspaceId, internId }),
      await createApiKey(store.owner, { kind: 'management', name: 'admin', organizationId }),
    ];
    const text = await dump(store);
    expect(text).toContain(kid);
    for (const { key, hash, label } of keys) {
      expect(text).toContain(hash);
      expect(text).toContain(label);
      for (const spelling of spellings(Buffer.from(key))) expect(text).not.toContain(spelling);
      for (const spelling of spellings(Buffer.from(key.slice(10), 'hex')))
        expect(text).not.toContain(spelling);
    }
    for (const secret of [seed, sealer.primary.key.export()]) {
      for (const spelling of spellings(secret)) expect(text).not.toContain(spelling);
    }
  });

  it('would show a seed that was stored unsealed', async () => {
    const { internId } = await createScenario(store.owner);
    const seed = new Uint8Array(32).map(() => Math.floor(Math.random() * 256));
    const { id } = await addSigningKey(store.owner, { internId, sealer });
    const plant = Buffer.from(seed).toString('base64url');
    await store.owner.kysely
      .updateTable('signing_keys')
      .set({ sealed_seed: plant })
      .where('id', '=', id)
      .execute();
    const text = await dump(store);
    expect(spellings(seed).some((spelling) => text.includes(spelling))).toBe(true);
  });

  it('with two sealed seeds swapped opens neither', async () => {
    const { internId } = await createScenario(store.owner);
    await addSigningKey(store.owner, { internId, sealer });
    await addSigningKey(store.owner, { internId, sealer });
    const before = await signerQueries(store.owner).signingKeys(internId);
    await sql`
      update signing_keys a set sealed_seed = b.sealed_seed from signing_keys b
      where a.intern_id = ${internId} and b.intern_id = a.intern_id and a.id <> b.id`.execute(
      store.owner.kysely,
    );
    const after = await signerQueries(store.owner).signingKeys(internId);
    expect(after.map((row) => row.sealedSeed)).toEqual(before.map((row) => row.sealedSeed).reverse());
    for (const row of before) expect(await open(sealer, row.sealedSeed, seedContext(row))).toHaveLength(32);
    for (const row of after) {
      const opened = open(sealer, row.sealedSeed, seedContext(row));
      await expect(opened).rejects.toMatchObject({ name: 'SealingError', code: 'context_mismatch' });
    }
  });
});
