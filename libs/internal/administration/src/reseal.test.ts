import { randomUUID } from 'node:crypto';
import { credentialContext } from '@ori/sealing/credential-context';
import { KekRing } from '@ori/sealing/kek-ring';
import { open } from '@ori/sealing/open';
import { seal } from '@ori/sealing/seal';
import { seedContext } from '@ori/sealing/seed-context';
import { signerQueries } from '@ori/store/signer';
import { createRing, createScenario } from '@ori/test-env/scenario';
import { openTestStore } from '@ori/test-env/stores';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { countByKek, resealTable } from './reseal.ts';
import { addSigningKey, revokeSigningKey } from './signing-keys.ts';

describe('the operator', () => {
  it('re-seals every seed under the first key of the ring, and reports those that cannot be opened', async () => {
    await using own = await openTestStore('postgres');
    const sealer = createRing();
    const { internId } = await createScenario(own.owner);
    const intern = { internId, sealer };
    const good = await addSigningKey(own.owner, intern);
    await addSigningKey(own.owner, intern);
    const elsewhere = await addSigningKey(own.owner, { ...intern, sealer: createRing() });
    const next = createRing();
    const both = new KekRing(new Map([next, sealer].map((ring) => [ring.primary.kid, ring.primary.key])));
    const report = await resealTable(own.owner, 'signer', { ring: both });
    expect(report).toEqual({ resealed: 2, kept: 0, failed: [elsewhere.id] });
    const row = (await signerQueries(own.owner).signingKeys(internId)).find(({ id }) => id === good.id);
    if (row === undefined) throw new Error('no row');
    expect(await open(next, row.sealedSeed, seedContext(row))).toHaveLength(32);
    expect(await resealTable(own.owner, 'signer', { ring: both })).toMatchObject({
      resealed: 0,
      kept: 2,
    });
    const kids = [next.primary.kid];
    await revokeSigningKey(own.owner, { keyId: elsewhere.id });
    // Before and after the one in use, as they are sorted.
    for (const kek of ['0', 'z']) {
      await sql`update signing_keys set kek = ${kek} where id = ${elsewhere.id}`.execute(own.owner.kysely);
      expect(await signerQueries(own.owner).keksInUse()).toEqual(kids);
    }
  });

  it('reads each row once, page by page, and leaves a text that was moved to another row', async () => {
    await using own = await openTestStore('postgres');
    const { organizationId: organization_id } = await createScenario(own.owner);
    const [former, next] = [createRing(), createRing()];
    const rows = await Promise.all(
      Array.from({ length: 1001 }, async () => {
        const row = { id: randomUUID(), organization_id };
        const sealed_key = await seal(former, Buffer.from(row.id), credentialContext(row));
        return { ...row, provider: 'openai' as const, label: '...', sealed_key };
      }),
    );
    const [moved, other] = rows;
    if (moved === undefined || other === undefined) throw new Error('no rows');
    moved.sealed_key = other.sealed_key;
    await own.owner.kysely.insertInto('byok_credentials').values(rows).execute();
    const ring = new KekRing(new Map([next, former].map(({ primary }) => [primary.kid, primary.key])));
    const seen: number[] = [];
    const onProgress = (done: number) => seen.push(done);
    const failed = [moved.id];
    const report = await resealTable(own.owner, 'management', { ring, onProgress });
    expect(report).toEqual({ resealed: 1000, kept: 0, failed });
    expect(seen).toEqual([1000, 1001]);
    expect(await resealTable(own.owner, 'management', { ring })).toEqual({ resealed: 0, kept: 1000, failed });
    expect(await countByKek(own.owner, 'management')).toEqual(
      new Map([
        [former.primary.kid, 1],
        [next.primary.kid, 1000],
      ]),
    );
    for (const stored of await own.owner.kysely.selectFrom('byok_credentials').selectAll().execute()) {
      if (stored.id === moved.id) continue;
      const opened = await open(next, stored.sealed_key, credentialContext(stored));
      expect(Buffer.from(opened).toString()).toBe(stored.id);
    }
  });
});
