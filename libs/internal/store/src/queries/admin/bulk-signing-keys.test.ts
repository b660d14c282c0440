import { createRing, createScenario, type Scenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterEveryKey, revokeSigningKeys, rotateSigningKeys } from './bulk-signing-keys.ts';
import { createIntern } from './interns.ts';
import { addSigningKey } from './signing-keys.ts';

const INTERNS = 130;

describe('all keys', () => {
  const sealer = createRing();
  const store = useTestStore('postgres');
  let home: Scenario;
  let neighbour: Scenario;
  beforeAll(async () => {
    [home, neighbour] = [await createScenario(store.owner), await createScenario(store.owner)];
    await addSigningKey(store.owner, { internId: neighbour.internId, sealer });
    for (let n = 0; n < INTERNS; n++) {
      const name = `intern-${n}`;
      const { id } = await createIntern(store.owner, { workspaceId: home.workspaceId, name });
      await addSigningKey(store.owner, { internId: id, sealer });
    }
  });

  const inUse = async (made: '<' | '>=', before: Date) => {
    const keys = store.owner.kysely.selectFrom('signing_keys').where('retired_at', 'is', null);
    const rows = await keys
      .where('signing_keys.created_at', made, before)
      .innerJoin('interns', 'interns.id', 'signing_keys.intern_id')
      .select(['intern_id', 'organization_id'])
      .execute();
    return rows.map((row) => (row.organization_id === home.organizationId ? 'home' : 'neighbour')).sort();
  };
  const homes = Array.from({ length: INTERNS }, () => 'home');
  const stopAt = (most: number) => (done: number) => {
    if (done >= most) throw new Error('interrupted');
  };

  it('are revoked in one organization, then rotated everywhere, each time a hundred at once and resumed', async () => {
    const { organizationId } = home;
    const before = await afterEveryKey(store.owner);
    const stopped = revokeSigningKeys(store.owner, { before, organizationId, onProgress: stopAt(100) });
    await expect(stopped).rejects.toThrow('interrupted');
    expect(await inUse('<', before)).toHaveLength(INTERNS - 100 + 1);
    expect(await revokeSigningKeys(store.owner, { before, organizationId })).toBe(INTERNS - 100);
    expect(await inUse('<', before)).toEqual(['neighbour']);

    const halted = rotateSigningKeys(store.owner, { before, onProgress: stopAt(100) }, { sealer });
    await expect(halted).rejects.toThrow('interrupted');
    const rest = await rotateSigningKeys(store.owner, { before }, { sealer });
    expect(rest).toEqual({ rotated: INTERNS + 1 - 100, failed: [] });
    expect(await inUse('>=', before)).toEqual([...homes, 'neighbour']);
    expect(await rotateSigningKeys(store.owner, { before }, { sealer })).toEqual({ rotated: 0, failed: [] });

    // A key that was made later is left alone.
    expect(await revokeSigningKeys(store.owner, { before })).toBe(1);
    expect(await inUse('>=', before)).toEqual([...homes, 'neighbour']);
  });

  it('are rotated where they can be, and the other interns are named', async () => {
    const notBefore = Math.floor(Date.now() / 1000) + 3600;
    const { internId } = neighbour;
    // Never rotated away, because a rotation ends only keys that begin before it ends.
    for (let n = 0; n < 23; n++) {
      const own = { notBefore: notBefore - 1800 + n * 10, expiresAt: notBefore - 1795 + n * 10 };
      await addSigningKey(store.owner, { internId, sealer, ...own });
    }
    const before = await afterEveryKey(store.owner);
    const { rotated, failed } = await rotateSigningKeys(store.owner, { before }, { sealer, notBefore });
    expect(rotated).toBe(INTERNS);
    expect(failed).toMatchObject([{ internId, error: { code: 'conflict' } }]);
  });
});
