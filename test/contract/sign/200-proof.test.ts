import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { type ProofHeaderValues, signingInputV1, signingInputV2 } from '@ori/proof';
import { issuedKey, issuedValue, REDIS_SCRIPTS } from '@ori/verifier/redis';
import { expect, test } from 'vitest';
import type { Reply } from '../../env/http-client.ts';
import { BODY_SHA256, useSignerWorld, V1_BODY } from '../signer-world.ts';

const world = await useSignerWorld();
const { tenants, issuer, redis } = world;
const publicKey = createPublicKey({
  key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(tenants.publicKey).toString('base64url') },
  format: 'jwk',
});

function proofOf(answer: Reply): ProofHeaderValues {
  expect(answer.status, answer.text).toBe(200);
  return answer.json() as ProofHeaderValues;
}

/** The signing inputs, from the request and the response. */
function inputsOf(proof: ProofHeaderValues, path = '/api/invoke') {
  const common = {
    internId: tenants.internId,
    timestamp: Number(proof['x-ori-invoke-timestamp']),
    user: proof['x-ori-invoke-user'],
    bodySha256: BODY_SHA256,
  };
  const nonce = proof['x-ori-invoke-nonce'] ?? '';
  return {
    v1: signingInputV1(common),
    v2: () => signingInputV2({ ...common, nonce, method: 'POST', path }),
  };
}

function isSigned(input: Uint8Array, signature: string | undefined): boolean {
  return verify(null, input, publicKey, Buffer.from(signature ?? '', 'base64'));
}

test('a request without a route gets the three base headers, and their signature verifies', async () => {
  const proof = proofOf(await world.sign({ body: V1_BODY }));
  expect(Object.keys(proof).sort()).toEqual([
    'x-ori-invoke-signature',
    'x-ori-invoke-timestamp',
    'x-ori-invoke-user',
  ]);
  expect(isSigned(inputsOf(proof).v1, proof['x-ori-invoke-signature'])).toBe(true);
});

test('a request with a route gets all five headers, and both signatures verify', async () => {
  const proof = proofOf(await world.sign());
  expect(Object.keys(proof).sort()).toEqual([
    'x-ori-invoke-nonce',
    'x-ori-invoke-signature',
    'x-ori-invoke-signature-v2',
    'x-ori-invoke-timestamp',
    'x-ori-invoke-user',
  ]);
  const inputs = inputsOf(proof);
  expect(isSigned(inputs.v1, proof['x-ori-invoke-signature'])).toBe(true);
  expect(isSigned(inputs.v2(), proof['x-ori-invoke-signature-v2'])).toBe(true);
});

// SPEC.md S2, S3.
test('the user is the subject of the token and the timestamp is now', async () => {
  const before = Math.floor(Date.now() / 1000);
  const proof = proofOf(await world.sign());
  expect(proof['x-ori-invoke-user']).toBe('ada');
  expect(Number(proof['x-ori-invoke-timestamp'])).toBeGreaterThanOrEqual(before);
  expect(Number(proof['x-ori-invoke-timestamp'])).toBeLessThanOrEqual(Date.now() / 1000);
});

// SPEC.md S6.
test('the response is application/json, no-store, and reports the remaining turns', async () => {
  const { headers } = await world.sign();
  expect(headers['content-type']).toBe('application/json');
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['x-request-id']).toBeTruthy();
  expect(headers['ratelimit']).toMatch(/^"(user|organization)";r=\d+;t=\d+$/);
  expect(headers['ratelimit-policy']).toBe('"user";q=1000000;w=60, "organization";q=10000000;w=60');
});

test.each(['ES256', 'EdDSA', 'RS256'] as const)('a JWT signed by %s is a session', async (signWith) => {
  proofOf(await world.sign({ bearer: await issuer.token({ signWith }) }));
});

test('an opaque token that introspection knows is a session', async () => {
  proofOf(await world.sign({ bearer: issuer.opaqueToken() }));
});

test.each([
  [
    'several audiences, one of them ours',
    {
      authorization: `Bearer ${await issuer.token({ claims: { aud: ['other', world.baseUrl] } })}`,
    },
  ],
  [
    'HTTP-Referer, X-Ori-Title and X-Ori-Categories',
    { 'http-referer': 'x', 'x-ori-title': 'y', 'x-ori-categories': 'z' },
  ],
  ['proof headers in the request, which are ignored', { 'x-ori-invoke-user': 'mallory' }],
])('issues a proof with %s', async (_, headers) => {
  const proof = proofOf(await world.sign({ headers }));
  expect(proof['x-ori-invoke-user']).toBe('ada');
});

test('issues a proof for an id with percent-encoded letters', async () => {
  const encoded = tenants.internId.replace(/^i/, '%69');
  const proof = proofOf(await world.sign({ internId: encoded }));
  expect(isSigned(inputsOf(proof).v1, proof['x-ori-invoke-signature'])).toBe(true);
});

test('issues a proof for a body of exactly 1048576 bytes, with a length or chunked', async () => {
  const body = V1_BODY.padEnd(1_048_576);
  proofOf(await world.sign({ body }));
  const path = `/v1/interns/${tenants.internId}/daemon/sign`;
  const headers = { authorization: `Bearer ${await issuer.token()}`, 'content-type': 'application/json' };
  proofOf(await world.request({ method: 'POST', path, headers, body: [body.slice(0, 9), body.slice(9)] }));
});

test('issues a proof for the longest path', async () => {
  const path = `/${'x'.repeat(2047)}`;
  const body = JSON.stringify({ bodySha256: BODY_SHA256, route: { method: 'POST', path } });
  const proof = proofOf(await world.sign({ body }));
  expect(isSigned(inputsOf(proof, path).v2(), proof['x-ori-invoke-signature-v2'])).toBe(true);
});

test('the nonce stays reserved for a redeeming daemon for longer than the proof is valid', async () => {
  const proof = proofOf(await world.sign());
  const key = issuedKey(tenants.internId, proof['x-ori-invoke-nonce'] ?? '');
  expect(await redis.get(key)).toEqual(issuedValue(inputsOf(proof).v2()));
  const ttlMs = await redis.pttl(key);
  expect(ttlMs).toBeGreaterThan(150_000);
  expect(ttlMs).toBeLessThanOrEqual(155_000);
});

test('the scripts of redeeming daemons are loaded by the signer', async () => {
  proofOf(await world.sign());
  const sources = Object.values(REDIS_SCRIPTS);
  const digests = sources.map((source) => createHash('sha1').update(source).digest('hex'));
  expect(await redis.script('EXISTS', ...digests)).toEqual(sources.map(() => 1));
});

test('each proof has one audit line with exactly the documented members', async () => {
  const requestId = randomUUID();
  const bearer = await issuer.token();
  const answer = await world.sign({ bearer, headers: { 'x-request-id': requestId } });
  const proof = proofOf(answer);
  const lines = await world.auditLines();
  const nonce = proof['x-ori-invoke-nonce'];
  expect(lines.filter((line) => line['nonce'] === nonce)).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      event: 'proof_issued',
      requestId: answer.headers['x-request-id'],
      userId: tenants.userId,
      issuer: issuer.url,
      subject: 'ada',
      internId: tenants.internId,
      workspaceId: tenants.workspaceId,
      organizationId: tenants.organizationId,
      versions: [1, 2],
      timestamp: Number(proof['x-ori-invoke-timestamp']),
      bodySha256: BODY_SHA256,
      method: 'POST',
      path: '/api/invoke',
      nonce,
      keyId: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    },
  ]);
  expect(answer.headers['x-request-id']).not.toBe(requestId);
});

test('a v1 proof costs one turn of the user and of the organization, as a v2 proof does', async () => {
  const before = await world.turnsUsed();
  proofOf(await world.sign({ body: V1_BODY }));
  proofOf(await world.sign());
  expect(await world.turnsUsed()).toEqual({ user: before.user + 2, organization: before.organization + 2 });
});
