import { createRing, createScenario } from '@ori/test-env/scenario';
import { openTestStore } from '@ori/test-env/stores';
import { describe, expect, it } from 'vitest';
import { KekRing } from '../../sealing/kek-ring.ts';
import { open } from '../../sealing/seal.ts';
import { seedContext } from '../../sealing/seed-context.ts';
import { signerQueries } from '../../signer-sql.ts';
import { resealTable } from './reseal.ts';
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
    expect(await signerQueries(own.owner).keksInUse()).toEqual(kids);
  });
});
