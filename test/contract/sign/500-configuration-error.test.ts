import { randomBytes } from 'node:crypto';
import {
  addMember,
  addSigningKey,
  addSubject,
  createIntern,
  createUser,
  revokeSigningKey,
} from '@ori/store/admin';
import { generateKekRing, parseKekRing } from '@ori/store/sealing';
import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { freshId, useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();
const { issuer, store, tenants } = world;
const { sealer } = tenants;
const refused = { status: 500, reason: 'configuration_error' };
const now = () => Math.floor(Date.now() / 1000);

async function internWith(key: object | undefined): Promise<{ internId: string; keyId: string | undefined }> {
  const { id: internId } = await createIntern(store, { workspaceId: tenants.workspaceId, name: 'intern' });
  const added = key && (await addSigningKey(store, { internId, sealer, ...key }));
  return { internId, keyId: added?.id };
}

async function expectUnusable(internId: string): Promise<void> {
  const before = await world.turnsUsed();
  expectRefusal(await world.sign({ internId }), refused);
  expect(await world.turnsUsed()).toEqual(before);
}

test('an intern without a signing key', () => expectUnusable(tenants.keylessInternId));

test.each([
  ['sealed under a KEK that is not in the ring', { sealer: parseKekRing(generateKekRing('signer')) }],
  ['whose interval is past', { notBefore: now() - 100, expiresAt: now() - 10 }],
  ['whose interval is to come', { notBefore: now() + 100 }],
])('an intern whose only key is one %s', async (_, key) => {
  await expectUnusable((await internWith(key)).internId);
});

test('a key that cannot be opened is counted once', async () => {
  const counted = async () =>
    Number(/^signer_signing_keys_unusable_total (\d+)$/m.exec((await world.page('/metrics')).text)?.[1]);
  const before = await counted();
  const { internId } = await internWith({ sealer: parseKekRing(generateKekRing('signer')) });
  await expectUnusable(internId);
  await expectUnusable(internId);
  expect(await counted()).toBe(before + 1);
});

test('an intern whose only key was retired', async () => {
  const { internId, keyId = '' } = await internWith({});
  await revokeSigningKey(store, { keyId });
  await expectUnusable(internId);
});

test('an intern whose published key is not the one that signs', async () => {
  const { internId } = await internWith({});
  await store.kysely
    .updateTable('signing_keys')
    .set({ public_key: tenants.publicKey } as never)
    .where('intern_id', '=', internId)
    .execute();
  await expectUnusable(internId);
});

test('an intern whose sealed seed belongs to another row', async () => {
  const [one, two] = [await internWith({}), await internWith({})];
  const { sealed_seed } = await store.kysely
    .selectFrom('signing_keys')
    .select('sealed_seed')
    .where('intern_id', '=', two.internId)
    .executeTakeFirstOrThrow();
  await store.kysely
    .updateTable('signing_keys')
    .set({ sealed_seed })
    .where('intern_id', '=', one.internId)
    .execute();
  await expectUnusable(one.internId);
});

test('if an intern’s newest key is unusable, the previous key signs', async () => {
  const { internId } = await internWith({ notBefore: now() - 1000 });
  await addSigningKey(store, {
    internId,
    notBefore: now() - 10,
    sealer: parseKekRing(generateKekRing('signer')),
  });
  expect((await world.sign({ internId })).status).toBe(200);
});

test.each(['a, b', 'with space', 'x,y', 'tab\u007f'.replace('\u007f', ' ')])(
  'a subject "%s", which cannot be a header value',
  async (subject) => {
    const { id: userId } = await createUser(store, { id: freshId('user'), name: 'odd' });
    const odd = `${subject}${randomBytes(4).toString('hex')}`;
    await addSubject(store, { userId, issuer: issuer.url, subject: odd });
    await addMember(store, { workspaceId: tenants.workspaceId, userId });
    expectRefusal(await world.sign({ bearer: await issuer.token({ subject: odd }) }), refused);
  },
);
