import { writeFile } from 'node:fs/promises';
import { makeAnswerKey, restateAnswerKeys, setAnswerKeys } from '@ori/administration/answer-keys';
import { createIntern } from '@ori/administration/interns';
import { createRestating, restateKeys } from '@ori/administration/key-statements';
import {
  addSigningKey,
  retireSigningKey,
  revokeSigningKey,
  rotateSigningKey,
} from '@ori/administration/signing-keys';
import { KEY_SET_HEADER } from '@ori/proof';
import { createSigningKey } from '@ori/proof/signing';
import { createRootedKeySet } from '@ori/verifier/rooted';
import { expect, test } from 'vitest';
import { startSignerWorld, useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld({ root: true });
const { store, tenants, root } = world;
if (root === undefined) throw new Error('the world has no root');
const unstated = { sealer: tenants.sealer };
const home = { ...unstated, stater: root.stater };
const pathOf = (internId: string) => `/v1/interns/${internId}/daemon/jwks.json`;

const daemon = (internId: string) =>
  createRootedKeySet(`${world.baseUrl}/interns/${internId}/daemon/jwks.json`, {
    root: root.jwk,
    revocationCheckSeconds: 1,
  });

async function kidsOf(keys: ReturnType<typeof daemon>): Promise<string[]> {
  await keys.reload();
  return (await keys.current()).map(({ kid }) => kid);
}

async function freshIntern(): Promise<string> {
  return (await createIntern(store, { workspaceId: tenants.workspaceId, name: 'rooted' })).id;
}

test('a daemon that pins the root takes the set, the empty one too', async () => {
  expect(await kidsOf(daemon(tenants.internId))).toHaveLength(1);
  expect(await kidsOf(daemon(await freshIntern()))).toEqual([]);
});

// SPEC.md R14.
test('a 304 carries a statement of its own time', async () => {
  const path = pathOf(tenants.internId);
  const { headers } = await world.request({ path });
  const again = await world.request({ path, headers: { 'if-none-match': headers['etag'] ?? '' } });
  expect(again).toMatchObject({ status: 304, text: '' });
  const at = (header: unknown) => Number(String(header).split(' ')[0]);
  expect(at(again.headers[KEY_SET_HEADER])).toBeGreaterThan(at(headers[KEY_SET_HEADER]));
  expect(headers['cache-control']).toBe('public, max-age=30');
});

test('rotation, retirement and revocation reach the daemon, each stated anew', async () => {
  const internId = await freshIntern();
  const keys = daemon(internId);
  const first = await addSigningKey(store, { internId, ...home });
  const next = await rotateSigningKey(store, { internId, ...home, notBefore: first.notBefore + 1 });
  await expect.poll(() => kidsOf(keys)).toEqual([next.kid, first.kid]);
  await retireSigningKey(store, { keyId: next.id, stater: root.stater });
  await revokeSigningKey(store, { keyId: first.id });
  await expect.poll(() => kidsOf(keys)).not.toContain(first.kid);
});

// SPEC.md R15.
test('a key that an insider adds to the database is not published, and signs nothing', async () => {
  const internId = await freshIntern();
  await addSigningKey(store, { internId, ...unstated });
  expect((await world.request({ path: pathOf(internId) })).json()).toMatchObject({ keys: [] });
  expect((await world.sign({ internId })).status).toBe(500);
});

// SPEC.md R18.
test('an answer key is published once it is stated, and daemons of the root still take the set', async () => {
  const internId = await freshIntern();
  const { kid } = await addSigningKey(store, { internId, ...home });
  const published = async () => (await world.request({ path: pathOf(internId) })).json() as object;
  const keys = [makeAnswerKey().x];
  await setAnswerKeys(store, internId, keys);
  await expect.poll(() => kidsOf(daemon(internId))).toEqual([kid]);
  expect(await published()).not.toHaveProperty(['ori.answers']);
  await setAnswerKeys(store, internId, keys, { stater: root.stater });
  await expect
    .poll(published)
    .toMatchObject({ 'ori.answers': [{ x: keys[0], statement: expect.any(String) }] });
  await expect.poll(() => kidsOf(daemon(internId))).toEqual([kid]);
});

test('a role confirms no answer key that nobody or somebody else stated', async () => {
  const internId = await freshIntern();
  const keys = [makeAnswerKey().x, makeAnswerKey().x];
  const other = { ...createSigningKey(new Uint8Array(32).fill(8)), baseUrl: world.baseUrl };
  const names = (ids: readonly string[]) => ids.filter((id) => id.startsWith(internId));
  const restate = async (options = {}) => {
    const restating = createRestating(root.stater, options);
    await restateAnswerKeys(store, restating);
    return { stated: names(restating.stated), skipped: names(restating.skipped) };
  };
  const all = keys.map((x) => `${internId} ${x}`);
  await setAnswerKeys(store, internId, keys);
  expect(await restate()).toEqual({ stated: [], skipped: all });
  await setAnswerKeys(store, internId, keys, { stater: other });
  expect(await restate({ all: true })).toEqual({ stated: [], skipped: all });
  expect(await restate({ former: other.publicKey })).toEqual({ stated: all, skipped: [] });
  await setAnswerKeys(store, internId, keys);
  expect(await restate({ all: true })).toEqual({ stated: all, skipped: [] });
  expect(await restate()).toEqual({ stated: all, skipped: [] });
});

test('a key that an insider moves to another intern is refused by its daemon', async () => {
  const internId = await freshIntern();
  const { id } = await addSigningKey(store, { internId: tenants.internId, ...home });
  await store.kysely.updateTable('signing_keys').set({ intern_id: internId }).where('id', '=', id).execute();
  await expect(daemon(internId).reload()).rejects.toMatchObject({ code: 'keys_unavailable' });
});

test('rotation does not confirm a statement that the role did not make', async () => {
  const internId = await freshIntern();
  const { id } = await addSigningKey(store, { internId, ...home });
  await store.kysely
    .updateTable('signing_keys')
    .set({ statement: `${'A'.repeat(86)}==` })
    .where('id', '=', id)
    .execute();
  await expect(rotateSigningKey(store, { internId, ...home })).rejects.toMatchObject({ code: 'conflict' });
  await expect(rotateSigningKey(store, { internId, ...unstated })).rejects.toMatchObject({
    code: 'conflict',
  });
});

test('a role is replaced while daemons run: the next one states what the former stated', async () => {
  const internId = await freshIntern();
  const keys = daemon(internId);
  const { kid } = await addSigningKey(store, { internId, ...home });
  const next = createSigningKey(new Uint8Array(32).fill(9));
  const both = root.delegate('keys', root.stater) + root.delegate('keys', next);
  await writeFile(root.delegationsFile, both + root.delegate('freshness', root.freshness));
  const restating = createRestating({ ...next, baseUrl: world.baseUrl }, { former: root.stater.publicKey });
  await restateKeys(store, restating);
  expect(restating.stated.length).toBeGreaterThan(0);
  await expect.poll(() => kidsOf(keys).catch(() => [])).toEqual([kid]);
});

// SPEC.md R16.
test('without its freshness key a signer publishes no key that needs a statement', async () => {
  const environment = { FRESHNESS_KEY_FILE: '', DELEGATIONS_FILE: '' };
  await using bare = await startSignerWorld({ root: true, environment });
  const answer = await bare.request({ path: pathOf(bare.tenants.internId) });
  expect(answer.status).toBe(500);
  expect(answer.headers[KEY_SET_HEADER]).toBeUndefined();
});
