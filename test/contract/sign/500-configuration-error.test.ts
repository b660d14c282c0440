import { createIntern } from '@ori/administration/interns';
import { addMember } from '@ori/administration/members';
import { addSigningKey, revokeSigningKey } from '@ori/administration/signing-keys';
import { addSubject, createUser } from '@ori/administration/users';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { expect, test } from 'vitest';
import { startIssuer } from '../../env/issuer.ts';
import { expectRefusal } from '../refusal.ts';
import { freshId, startSignerWorld, useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();
const { issuer, store, tenants } = world;
const { sealer } = tenants;
const refused = { status: 500, reason: 'configuration_error' };

async function internWith(key: object): Promise<{ internId: string; keyId: string }> {
  const { id: internId } = await createIntern(store, { workspaceId: tenants.workspaceId, name: 'intern' });
  const { id: keyId } = await addSigningKey(store, { internId, sealer, ...key });
  return { internId, keyId };
}

async function expectUnusable(internId: string): Promise<void> {
  const before = await world.turnsUsed();
  expectRefusal(await world.sign({ internId }), refused);
  expect(await world.turnsUsed()).toEqual(before);
}

test('an intern without a signing key', () => expectUnusable(tenants.keylessInternId));

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
  const { internId, keyId } = await internWith({});
  await revokeSigningKey(store, { keyId });
  await expectUnusable(internId);
});

test('a subject that cannot be a header value', async () => {
  const { id: userId } = await createUser(store, { id: freshId('user'), name: 'odd' });
  const subject = freshId('with space');
  await addSubject(store, { userId, issuer: issuer.url, subject });
  await addMember(store, { workspaceId: tenants.workspaceId, userId });
  expectRefusal(await world.sign({ bearer: await issuer.token({ subject }) }), refused);
});

test('an issuer that does not answer as in RFC 7662', async () => {
  const bearer = issuer.opaqueToken({ claims: { active: 'true' } });
  expectRefusal(await world.sign({ bearer }), refused);
});

test('an issuer that names no introspection endpoint of its own: a warning at the start, and no "try again"', async () => {
  await using misled = await startIssuer({ audience: 'https://api.test/v1' });
  misled.announce({ introspection_endpoint: 'https://admin.test/introspect' });
  await using its = await startSignerWorld({ environment: { ISSUER: misled.url } });
  const output = its.signer.output.join('\n');
  expect(output).toContain('the issuer cannot be asked about opaque tokens');
  expect(output).toContain('set introspection.endpoint');
  expectRefusal(await its.sign({ bearer: 'x'.repeat(40) }), refused);
});
