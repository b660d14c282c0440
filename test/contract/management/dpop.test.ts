import { createDpopKey, dpopHeaders } from '@ori/test-env/dpop';
import { afterAll, expect, test } from 'vitest';
import { startManagementWorld } from './world.ts';

const world = await startManagementWorld();
afterAll(() => world[Symbol.asyncDispose]());
const key = await createDpopKey('Ed25519');
const claims = { cnf: { jkt: key.thumbprint } };
const accessToken = await world.issuer.token({ subject: world.ours.subject, claims });
const url = `${world.baseUrl}/interns`;

const list = (proof: string) =>
  world.call({
    path: '/interns',
    bearer: null,
    headers: dpopHeaders(accessToken, proof),
  });

test('lists interns for a bound session, once for each proof and with management’s own nonce', async () => {
  const challenge = await list(await key.proof({ method: 'GET', url, accessToken }));
  expect(challenge.status).toBe(401);
  expect(challenge.headers['www-authenticate']).toContain('error="use_dpop_nonce"');
  const nonce = String(challenge.headers['dpop-nonce']);
  const proof = await key.proof({ method: 'GET', url, accessToken, nonce });
  expect((await list(proof)).status).toBe(200);
  const replayed = await list(proof);
  expect([replayed.status, replayed.headers['www-authenticate']]).toEqual([
    401,
    expect.stringContaining('error="invalid_dpop_proof"'),
  ]);
});

test('refuses a bound session as Bearer, and an unbound one or an API key as DPoP', async () => {
  expect((await world.call({ path: '/interns', bearer: accessToken })).status).toBe(401);
  for (const bearer of [await world.issuer.token({ subject: world.ours.subject }), world.ours.apiKey]) {
    const headers = ['Authorization', `DPoP ${bearer}`];
    expect((await world.call({ path: '/interns', bearer: null, headers })).status).toBe(401);
  }
});

test('where bound sessions are required, refuses every unbound one, and takes API keys', async () => {
  await using strict = await startManagementWorld({ environment: { REQUIRE_DPOP: 'true' } });
  const bearer = await strict.issuer.token({ subject: strict.ours.subject });
  const refused = await strict.call({ path: '/interns', bearer });
  expect([refused.status, refused.headers['www-authenticate']]).toEqual([
    403,
    expect.stringContaining('DPoP error="invalid_token"'),
  ]);
  expect((await strict.call({ path: '/interns', bearer: strict.ours.apiKey })).status).toBe(200);
});
