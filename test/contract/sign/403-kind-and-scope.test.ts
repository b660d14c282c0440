import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();
const { issuer, tenants } = world;

test.each([
  ['an ordinary API key', tenants.apiKey],
  ["the intern's own API key", tenants.internApiKey],
])('%s is refused because it names no person', async (_, bearer) => {
  issuer.resetCounts();
  expectRefusal(await world.sign({ bearer }), { status: 403, reason: 'personal_identity_required' });
  expect(issuer.counts).toMatchObject({ discovery: 0, introspection: 0 });
});

test.each(['interns', ''])('a grant with scope "%s" is refused', async (scope) => {
  for (const bearer of [await issuer.token({ scope }), issuer.opaqueToken({ scope })]) {
    const answer = await world.sign({ bearer });
    expectRefusal(answer, { status: 403, reason: 'insufficient_scope' });
    expect(answer.headers['www-authenticate']).toBe(
      'Bearer error="insufficient_scope", scope="vault:read", DPoP error="insufficient_scope", scope="vault:read"',
    );
  }
});

test('a token with another scope is refused after one with the right scope was accepted', async () => {
  expect((await world.sign({ bearer: issuer.opaqueToken() })).status).toBe(200);
  const narrow = await issuer.token({ scope: 'interns' });
  for (const _ of [1, 2]) {
    expectRefusal(await world.sign({ bearer: narrow }), { status: 403, reason: 'insufficient_scope' });
  }
});
