import { createSigningKey } from '@ori/proof/signing';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import type { KekRing } from '@ori/sealing/kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { seal } from '@ori/sealing/seal';
import { seedContext } from '@ori/sealing/seed-context';
import type { SigningKeyRow } from '@ori/store/signer';
import { expect, test } from 'vitest';
import { createSigningKeys } from './signing-keys.ts';

const ring = parseKekRing(generateKekRing('signer'));
const NOW = 1_789_000_000;

async function rowOf(id: string, fill: number, times: Partial<SigningKeyRow> = {}): Promise<SigningKeyRow> {
  const seed = new Uint8Array(32).fill(fill);
  const { kid, publicKey } = createSigningKey(seed);
  const sealedSeed = await seal(ring, seed, seedContext({ id, internId: 'int_1' }));
  return {
    id,
    internId: 'int_1',
    kid,
    publicKey,
    sealedSeed,
    notBefore: NOW - 100,
    expiresAt: null,
    statement: null,
    ...times,
  };
}

function keysOf(
  rows: readonly SigningKeyRow[],
  seconds = { now: NOW },
  options: { onlyStated?: boolean; ring?: KekRing } = {},
) {
  const unusable: string[] = [];
  const keys = createSigningKeys({
    // As a database does, it returns a new row each time.
    rows: () => rows.map((row) => ({ ...row })),
    ring,
    ...options,
    now: () => seconds.now * 1000,
    onUnusable: (row) => unusable.push(row.id),
  });
  return { unlock: async () => (await keys.unlock('int_1'))?.kid, unusable };
}

test('opens the newest key that may sign now, chosen each time', async () => {
  const rows = [
    await rowOf('new', 2, { notBefore: NOW + 10 }),
    await rowOf('old', 1, { expiresAt: NOW + 20 }),
  ];
  const seconds = { now: NOW };
  const { unlock } = keysOf(rows, seconds);
  expect(await unlock()).toBe(rows[1]?.kid);
  seconds.now = NOW + 10;
  expect(await unlock()).toBe(rows[0]?.kid);
});

test('skips a key that does not open, and reports it once', async () => {
  const good = await rowOf('good', 1);
  const other = await rowOf('other', 2);
  const misplaced = { ...other, id: 'misplaced', notBefore: NOW };
  const { unlock, unusable } = keysOf([misplaced, good]);
  expect(await unlock()).toBe(good.kid);
  expect(await unlock()).toBe(good.kid);
  expect(unusable).toEqual(['misplaced']);
});

test.each([
  [
    'published as another',
    async () => ({ ...(await rowOf('a', 1)), publicKey: (await rowOf('b', 2)).publicKey }),
  ],
  [
    'published as a point of small order',
    async () => ({ ...(await rowOf('a', 1)), publicKey: new Uint8Array(32) }),
  ],
  [
    'sealed for another row',
    async () => ({ ...(await rowOf('a', 1)), sealedSeed: (await rowOf('b', 1)).sealedSeed }),
  ],
  ['sealed for another intern', async () => ({ ...(await rowOf('a', 1)), internId: 'int_2' })],
  ['not sealed at all', async () => ({ ...(await rowOf('a', 1)), sealedSeed: 'x' })],
])('does not sign with a key %s', async (_, row) => {
  expect(await keysOf([await row()]).unlock()).toBeUndefined();
});

test('checks a row again when it has changed', async () => {
  const row = await rowOf('a', 1);
  const rows = [{ ...row, sealedSeed: 'x' }];
  const { unlock } = keysOf(rows);
  expect(await unlock()).toBeUndefined();
  rows[0] = row;
  expect(await unlock()).toBe(row.kid);
});

test.each(['kid', 'publicKey'] as const)('checks a row again whose %s has changed', async (changed) => {
  const [row, other] = [await rowOf('a', 1), await rowOf('b', 2)];
  const rows = [row];
  const { unlock, unusable } = keysOf(rows);
  await unlock();
  rows[0] = { ...row, [changed]: other[changed] };
  await unlock();
  expect(unusable).toEqual(changed === 'publicKey' ? ['a'] : []);
  rows[0] = row;
  expect(await unlock()).toBe(row.kid);
});

test('does not sign with an opened key whose row was moved to another intern', async () => {
  const row = await rowOf('a', 1);
  const rows = [row];
  const { unlock, unusable } = keysOf(rows);
  expect(await unlock()).toBe(row.kid);
  rows[0] = { ...row, internId: 'int_2' };
  expect(await unlock()).toBeUndefined();
  expect(unusable).toEqual(['a']);
});

test('tries a key again that did not open when the ring has changed', async () => {
  const row = await rowOf('a', 1);
  const changing = parseKekRing(generateKekRing('signer'));
  const { unlock, unusable } = keysOf([row], undefined, { ring: changing });
  expect(await unlock()).toBeUndefined();
  changing.replaceBy(ring);
  expect(await unlock()).toBe(row.kid);
  expect(unusable).toEqual(['a']);
});

test('signs only with a key that is stated, where daemons pin a root', async () => {
  const stated = await rowOf('stated', 1, { statement: 'by the role' });
  const rows = [await rowOf('unstated', 2, { notBefore: NOW }), stated];
  expect(await keysOf(rows).unlock()).toBe(rows[0]?.kid);
  expect(await keysOf(rows, undefined, { onlyStated: true }).unlock()).toBe(stated.kid);
});

test('needs nobody to be told of a key that does not open', async () => {
  const row = { ...(await rowOf('a', 1)), sealedSeed: 'x' };
  const keys = createSigningKeys({ rows: () => [row], ring, now: () => NOW * 1000 });
  expect(await keys.unlock('int_1')).toBeUndefined();
});
