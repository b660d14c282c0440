import { dueKeys } from '@ori/administration/bulk-signing-keys';
import { deleteIntern } from '@ori/administration/interns';
import { addSigningKey, revokeSigningKey } from '@ori/administration/signing-keys';
import { createRing, createScenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { EXPIRY_SECONDS, type SignerQueries, signerQueries } from './signer-sql.ts';

const T = 1_789_000_000;
const NOTHING = { expired: 0, nextExpiry: undefined };

describe('the expiry of signing keys, queried as the signer', () => {
  const sealer = createRing();
  const store = useTestStore('postgres');
  let signer: SignerQueries;
  beforeAll(async () => {
    signer = signerQueries(store.as('ori_signer'));
  });

  /** Each case has its own month, outside the range of the others. */
  let months = 0;
  const nextMonth = () => T + ++months * 4 * EXPIRY_SECONDS;
  const addKey = (internId: string, notBefore: number, expiresAt?: number) =>
    addSigningKey(store.owner, {
      internId,
      sealer,
      notBefore,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    });

  it('has the next expiry without a successor until it has passed', async () => {
    const at = nextMonth();
    const [soon, later] = [await createScenario(store.owner), await createScenario(store.owner)];
    await addKey(soon.internId, at - 10, at + 100);
    await addKey(later.internId, at - 10, at + 200);
    expect(await signer.keyExpiry({ at })).toEqual({ expired: 0, nextExpiry: at + 100 });
    expect(await signer.keyExpiry({ at: at + 99 })).toEqual({ expired: 0, nextExpiry: at + 100 });
    expect(await signer.keyExpiry({ at: at + 100 })).toEqual({ expired: 1, nextExpiry: at + 200 });
    expect(await signer.keyExpiry({ at: at + 200 })).toEqual({ expired: 2, nextExpiry: undefined });
  });

  it('ignores an expiry whose successor is valid by then, but not if it comes a second late', async () => {
    const at = nextMonth();
    const { internId } = await createScenario(store.owner);
    await addKey(internId, at - 10, at + 100);
    const late = await addKey(internId, at + 101);
    expect(await signer.keyExpiry({ at })).toEqual({ expired: 0, nextExpiry: at + 100 });
    await revokeSigningKey(store.owner, { keyId: late.id });
    await addKey(internId, at + 100);
    expect(await signer.keyExpiry({ at })).toEqual(NOTHING);
  });

  it('lists last keys that expire soon or have expired, in order of expiry', async () => {
    const at = nextMonth();
    const [soon, ended, far] = [
      await createScenario(store.owner),
      await createScenario(store.owner),
      await createScenario(store.owner),
    ];
    const soonKey = await addKey(soon.internId, at - 10, at + 100);
    const endedKey = await addKey(ended.internId, at - 10, at - 5);
    await addKey(far.internId, at - 10, at + 1000);
    expect(await dueKeys(store.owner, { at, seconds: 500 })).toEqual([
      { id: endedKey.id, internId: ended.internId, expiresAt: at - 5 },
      { id: soonKey.id, internId: soon.internId, expiresAt: at + 100 },
    ]);
    await addKey(soon.internId, at + 50);
    expect(await dueKeys(store.owner, { at, seconds: 500 })).toMatchObject([{ internId: ended.internId }]);
  });

  it('lists a key that expired in the last 30 days, by the clock of the database', async () => {
    const expiresAt = Math.floor(Date.now() / 1000) - 30 * 86_400 + 3600;
    const [late, longAgo] = [await createScenario(store.owner), await createScenario(store.owner)];
    const { id } = await addKey(late.internId, 1, expiresAt);
    await addKey(longAgo.internId, 1, expiresAt - 7200);
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const due = dueKeys(store.owner, { seconds: 500 }).finally(() => vi.useRealTimers());
    expect(await due).toEqual([{ id, internId: late.internId, expiresAt }]);
    for (const { internId } of [late, longAgo]) await deleteIntern(store.owner, { internId });
  });

  it('does not accept a retired key as a successor', async () => {
    const at = nextMonth();
    const { internId } = await createScenario(store.owner);
    await addKey(internId, at - 10, at + 100);
    const { id } = await addKey(internId, at);
    expect(await signer.keyExpiry({ at })).toEqual(NOTHING);
    await revokeSigningKey(store.owner, { keyId: id });
    expect(await signer.keyExpiry({ at })).toEqual({ expired: 0, nextExpiry: at + 100 });
  });

  it('counts an intern once, however many keys have expired, and not once a new one is valid', async () => {
    const at = nextMonth();
    const { internId } = await createScenario(store.owner);
    await addKey(internId, at - 30, at - 20);
    await addKey(internId, at - 15, at - 10);
    expect(await signer.keyExpiry({ at })).toEqual({ expired: 1, nextExpiry: undefined });
    await addKey(internId, at - 1);
    expect(await signer.keyExpiry({ at })).toEqual(NOTHING);
  });
});
