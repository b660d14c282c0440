import { createRing, createScenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { describe, expect, it } from 'vitest';
import {
  afterEveryKey,
  internsWithKeysBefore,
  revokeSigningKeys,
  rotateSigningKeys,
} from './bulk-signing-keys.ts';
import { addSigningKey } from './signing-keys.ts';

describe('all keys', () => {
  const sealer = createRing();
  const store = useTestStore('postgres');

  it('are revoked in one organization, then rotated everywhere, but those that were made later', async () => {
    const [home, neighbour] = [await createScenario(store.owner), await createScenario(store.owner)];
    const interns = [home.internId, neighbour.internId].sort();
    for (const internId of interns) await addSigningKey(store.owner, { internId, sealer });
    const before = await afterEveryKey(store.owner);
    const { organizationId } = home;
    expect(await revokeSigningKeys(store.owner, { before, organizationId })).toBe(1);
    expect(await revokeSigningKeys(store.owner, { before, organizationId })).toBe(0);

    expect(await internsWithKeysBefore(store.owner, { before, organizationId })).toEqual([home.internId]);
    expect(await internsWithKeysBefore(store.owner, { before })).toEqual(interns);
    expect(await rotateSigningKeys(store.owner, interns, { sealer })).toEqual({ rotated: 2, failed: [] });
    expect(await internsWithKeysBefore(store.owner, { before })).toEqual([]);
    expect(await revokeSigningKeys(store.owner, { before })).toBe(1);
    expect(await revokeSigningKeys(store.owner, { before: await afterEveryKey(store.owner) })).toBe(2);
  });

  it('are rotated where they can be, and the other interns are named', async () => {
    const [full, empty] = [await createScenario(store.owner), await createScenario(store.owner)];
    const notBefore = Math.floor(Date.now() / 1000) + 3600;
    // Never rotated away, because a rotation ends only keys that begin before it ends.
    for (let n = 0; n < 24; n++) {
      const own = { notBefore: notBefore - 1800 + n * 10, expiresAt: notBefore - 1795 + n * 10 };
      await addSigningKey(store.owner, { internId: full.internId, sealer, ...own });
    }
    const interns = [full.internId, empty.internId];
    const { rotated, failed } = await rotateSigningKeys(store.owner, interns, { sealer, notBefore });
    expect(rotated).toBe(1);
    expect(failed).toMatchObject([{ internId: full.internId, error: { code: 'conflict' } }]);
  });
});
