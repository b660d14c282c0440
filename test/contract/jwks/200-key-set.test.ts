import { makeAnswerKey, setAnswerKeys } from '@ori/administration/answer-keys';
import { createIntern } from '@ori/administration/interns';
import { addSigningKey, revokeSigningKey } from '@ori/administration/signing-keys';
import { parseJwkSet, thumbprint } from '@ori/proof';
import { expect, test } from 'vitest';
import { DependencyError } from '../../../services/signer/src/core/dependency-error.ts';
import { Written } from '../../../services/signer/src/core/stages/evidence.ts';
import { freshId, startSignerWorld, useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();
const { store, tenants } = world;
const now = () => Math.floor(Date.now() / 1000);
const pathOf = (internId: string) => `/v1/interns/${internId}/daemon/jwks.json`;

async function keysOf(internId: string) {
  const answer = await world.request({ path: pathOf(internId) });
  expect(answer.status).toBe(200);
  return (answer.json() as { keys: Record<string, unknown>[] }).keys;
}

// SPEC.md K25.
test('the set contains the public key of the intern, for everyone', async () => {
  const answer = await world.request({ path: pathOf(tenants.internId) });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.headers['cache-control']).toBe('public, max-age=60');
  expect(answer.headers['etag']).toMatch(/^"[\w-]{43}"$/);
  expect(answer.json()).toEqual({
    keys: [
      {
        kty: 'OKP',
        crv: 'Ed25519',
        use: 'sig',
        kid: thumbprint(tenants.publicKey),
        x: Buffer.from(tenants.publicKey).toString('base64url'),
        nbf: expect.any(Number),
      },
    ],
  });
  expect(parseJwkSet(answer.json())).toHaveLength(1);
});

test('a key is published before it signs, with its bounds', async () => {
  const { id: internId } = await createIntern(store, { workspaceId: tenants.workspaceId, name: 'rotating' });
  const first = await addSigningKey(store, { internId, sealer: tenants.sealer, expiresAt: now() + 400 });
  const next = await addSigningKey(store, { internId, sealer: tenants.sealer });
  expect(await keysOf(internId)).toEqual([
    expect.objectContaining({ kid: next.kid, nbf: next.notBefore }),
    expect.objectContaining({ kid: first.kid, nbf: first.notBefore, exp: first.expiresAt }),
  ]);
  expect(next.notBefore).toBeGreaterThanOrEqual(now() + 170);
});

test('a retired key leaves the set within two seconds', async () => {
  const { id: internId } = await createIntern(store, { workspaceId: tenants.workspaceId, name: 'retired' });
  const { id: keyId } = await addSigningKey(store, { internId, sealer: tenants.sealer });
  expect(await keysOf(internId)).toHaveLength(1);
  await revokeSigningKey(store, { keyId });
  await expect.poll(() => keysOf(internId), { timeout: 2000 }).toEqual([]);
});

// SPEC.md K25.
test('an id without an intern or without keys has an empty set, so existence is not revealed', async () => {
  const unknown = await world.request({ path: pathOf(freshId('int')) });
  const keyless = await world.request({ path: pathOf(tenants.keylessInternId) });
  expect(unknown.text).toBe('{"keys":[]}');
  expect(keyless.text).toBe(unknown.text);
  expect(keyless.headers['etag']).toBe(unknown.headers['etag']);
});

test('the keys with which its daemon proves its answers are in the set, and verifiers of calls ignore them', async () => {
  const { id: internId } = await createIntern(store, { workspaceId: tenants.workspaceId, name: 'answering' });
  const path = pathOf(internId);
  const bare = await world.request({ path });
  const [one, other] = [makeAnswerKey().x, makeAnswerKey().x];
  await setAnswerKeys(store, internId, [one, other]);
  const member = { 'ori.answers': [{ x: one }, { x: other }] };
  await expect.poll(async () => (await world.request({ path })).json()).toEqual({ keys: [], ...member });
  await addSigningKey(store, { internId, sealer: tenants.sealer });
  await expect.poll(() => keysOf(internId)).toHaveLength(1);
  const answer = await world.request({ path });
  expect(answer.json()).toMatchObject(member);
  expect(parseJwkSet(answer.json())).toHaveLength(1);
  expect(answer.headers['cache-control']).toBe(bare.headers['cache-control']);
  expect(answer.headers['etag']).not.toBe(bare.headers['etag']);
  await setAnswerKeys(store, internId, null);
  await expect.poll(async () => (await world.request({ path })).text).not.toContain('ori.answers');
});

test('the keys of an intern outside the programme are published like any other', async () => {
  expect(await keysOf(tenants.outsideInternId)).toHaveLength(1);
});

test('HEAD returns only the headers', async () => {
  const whole = await world.request({ path: pathOf(tenants.internId) });
  const head = await world.request({ path: pathOf(tenants.internId), method: 'HEAD' });
  expect(head).toMatchObject({ status: 200, text: '' });
  for (const name of ['etag', 'cache-control', 'content-type', 'content-length']) {
    expect(head.headers[name]).toBe(whole.headers[name]);
  }
});

test('the bearer credential is ignored', async () => {
  const headers = { authorization: 'Bearer nobody' };
  expect((await world.request({ path: pathOf(tenants.internId), headers })).status).toBe(200);
});

test('a key is served only once the audit file has a line of it', async () => {
  const lines: string[] = [];
  let isBroken = true;
  const audit = {
    async append(line: string) {
      if (isBroken) throw new DependencyError('audit', 'the audit file cannot be written');
      lines.push(line);
      return new Written(line);
    },
    reopen: async () => {},
    check: async () => {},
    close: async () => {},
  };
  await using other = await startSignerWorld({ parts: { audit } });
  const { internId, publicKey } = other.tenants;
  const path = pathOf(internId);
  expect((await other.request({ path })).status).toBe(500);
  expect((await other.request({ path: pathOf(freshId('int')) })).status).toBe(200);
  isBroken = false;
  expect((await other.request({ path })).status).toBe(200);
  isBroken = true;
  expect((await other.request({ path })).status).toBe(200);
  const facts = lines.map((line) => JSON.parse(line));
  const x = Buffer.from(publicKey).toString('base64url');
  expect(facts).toMatchObject([{ event: 'key_published', internId, keyId: thumbprint(publicKey), x }]);
});
