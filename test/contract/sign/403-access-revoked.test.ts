import { addMember, removeMember } from '@ori/administration/members';
import { revokeSessions } from '@ori/administration/sessions';
import { disableUser, enableUser } from '@ori/administration/users';
import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { startSignerWorld, useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();
const { issuer, store, tenants } = world;
const membership = { workspaceId: tenants.workspaceId, userId: tenants.userId };
const revoked = { status: 403, reason: 'access_revoked' };

test('a removed member learns that access was revoked', async () => {
  expectRefusal(await world.sign({ bearer: await issuer.token({ subject: 'mary' }) }), revoked);
});

test('the log of a refusal names the subject and the intern', async () => {
  const { headers } = await world.sign({ bearer: await issuer.token({ subject: 'mary' }) });
  const logged = () => world.signer.output.filter((line) => line.includes(String(headers['x-request-id'])));
  await expect.poll(logged).toHaveLength(1);
  expect(JSON.parse(logged()[0] ?? '')).toMatchObject({ subject: 'mary', internId: tenants.internId });
});

test('a member whose user was disabled learns that access was revoked', async () => {
  await disableUser(store, { userId: tenants.userId });
  await expect.poll(async () => (await world.sign()).status).toBe(403);
  expectRefusal(await world.sign(), revoked);
  await enableUser(store, { userId: tenants.userId });
  await expect.poll(async () => (await world.sign()).status).toBe(200);
});

test('a removal takes effect within two seconds for a token that was accepted before', async () => {
  const bearer = await issuer.token();
  expect((await world.sign({ bearer })).status).toBe(200);
  await removeMember(store, membership);
  await expect.poll(async () => (await world.sign({ bearer })).status, { timeout: 2000 }).toBe(403);
  expectRefusal(await world.sign({ bearer }), revoked);
  await addMember(store, membership);
  await expect.poll(async () => (await world.sign({ bearer })).status).toBe(200);
});

test('a session that began before the revocation is refused, a later one is not', async () => {
  await using other = await startSignerWorld();
  const before = Math.floor(Date.now() / 1000) - 100;
  const validFrom = before + 50;
  await revokeSessions(other.store, { userId: other.tenants.userId, validFrom });
  const token = (claims: object) => other.issuer.token({ claims: { iat: before, ...claims } });
  expectRefusal(await other.sign({ bearer: await token({}) }), revoked);
  const ended = await other.sign({ bearer: await token({ iat: validFrom, auth_time: before }) });
  expectRefusal(ended, { status: 401 });
  expect(ended.headers['www-authenticate']).toContain(
    'Bearer error="insufficient_user_authentication", max_age="0"',
  );
  expectRefusal(await other.sign({ bearer: await token({ iat: undefined }) }), revoked);
  // A refresh renews `iat`, so `iat` does not show when the person signed in.
  expectRefusal(await other.sign({ bearer: await token({ iat: validFrom }) }), revoked);
  expect((await other.sign({ bearer: await token({ auth_time: validFrom }) })).status).toBe(200);
});
