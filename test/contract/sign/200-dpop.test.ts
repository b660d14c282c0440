import { createDpopKey } from '@ori/test-env/dpop';
import { expect, test } from 'vitest';
import { useSignerWorld } from '../signer-world.ts';
import { createDpopWorld, steadyClock } from './dpop-world.ts';

const clock = steadyClock();
const world = await useSignerWorld({ parts: { now: clock, clocks: {} } });

test.each(['ES256', 'EdDSA', 'Ed25519'] as const)('signs for a session bound to a key of %s', async (alg) => {
  const dpop = await createDpopWorld(world, clock, await createDpopKey(alg));
  const answer = await dpop.send();
  expect(answer.status).toBe(200);
  expect(answer.headers['dpop-nonce']).toBe(dpop.nonce());
  expect((await world.auditLines()).at(-1)).toMatchObject({ boundTo: dpop.key.thumbprint });
  const { text } = await world.page('/metrics');
  expect(text).toMatch(/^signer_proofs_issued_total\{version="v2",bound="true"\} [1-9]/m);
});

test('signs for an introspected session that is bound to a key', async () => {
  const dpop = await createDpopWorld(world, clock);
  const cnf = { jkt: dpop.key.thumbprint };
  const opaque = world.issuer.opaqueToken({ claims: { cnf, token_type: 'DPoP' } });
  const proofs = [await dpop.proof({ accessToken: opaque })];
  expect((await dpop.send({ authorization: `DPoP ${opaque}`, proofs })).status).toBe(200);
});

const dpop = await createDpopWorld(world, clock);

test.each([
  ['the scheme in capitals', { authorization: `DPOP ${dpop.token}` }],
  ['a query', { path: `${dpop.path}?a=1` }],
])('takes %s', async (_, attempt) => {
  expect((await dpop.send(attempt)).status).toBe(200);
});

test.each([
  ['the nonce of the period before', { nonce: dpop.nonce(-1) }],
  ['the nonce of a signer whose clock is ahead', { nonce: dpop.nonce(1) }],
  ['a clock 10 minutes slow, with a nonce', { claims: { iat: clock() / 1000 - 600 } }],
  ['a clock 10 minutes fast, with a nonce', { claims: { iat: clock() / 1000 + 600 } }],
  ['the origin in capitals', { url: dpop.htu.replace('http://', 'HTTP://') }],
  ['a jti of 128 characters', { claims: { jti: 'x'.repeat(128) } }],
  ['unknown claims and header members', { claims: { other: 1 }, header: { kid: 'mine' } }],
])('takes %s', async (_, options) => {
  expect((await dpop.send({ proofs: [await dpop.proof(options)] })).status).toBe(200);
});

test('takes an access token of 16,000 characters, with the longest proof', async () => {
  const sized = async (characters: number, mint: (filler: string) => Promise<string>) => {
    const { length } = await mint('');
    return await mint('x'.repeat(Math.floor(((characters - length) * 3) / 4)));
  };
  const jkt = dpop.key.thumbprint;
  const token = await sized(16_000, (groups) => world.token({ claims: { cnf: { jkt }, groups } }));
  const proof = await sized(4096, (other) => dpop.proof({ accessToken: token, claims: { other } }));
  expect([token.length > 15_990, proof.length > 4090]).toEqual([true, true]);
  expect((await dpop.send({ authorization: `DPoP ${token}`, proofs: [proof] })).status).toBe(200);
});

test('an unbound session needs no DPoP proof, and an unrequested one is ignored', async () => {
  const bearer = await world.token();
  expect((await world.sign({ bearer })).headers).not.toHaveProperty('dpop-nonce');
  expect((await world.sign({ bearer, headers: { dpop: 'x' } })).status).toBe(200);
  expect((await world.auditLines()).at(-1)).not.toHaveProperty('boundTo');
});

test('the audit line of a person whose session was bound to a key, and is not any more, says so', async () => {
  expect((await dpop.send()).status).toBe(200);
  expect((await world.auditLines()).at(-1)).not.toHaveProperty('boundBefore');
  const bearer = await world.token({ claims: { jti: 'unbound' } });
  expect((await world.sign({ bearer })).status).toBe(200);
  expect((await world.auditLines()).at(-1)).toMatchObject({ boundBefore: true });
  const { text } = await world.page('/metrics');
  expect(text).toMatch(/^signer_bindings_lost_total [1-9]/m);
});

test('two sessions may use the same jti', async () => {
  const other = await createDpopWorld(world, clock);
  for (const one of [dpop, other]) {
    expect((await one.send({ proofs: [await one.proof({ claims: { jti: 'the same' } })] })).status).toBe(200);
  }
});
