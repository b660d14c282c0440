import { createHash } from 'node:crypto';
import { CONTENT_CLAIM } from '@ori/identity/dpop/content';
import { createDpopNonces } from '@ori/identity/dpop/nonces';
import { createDpopKey, type DpopProofOptions, encode } from '@ori/test-env/dpop';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Reply } from '../../env/http-client.ts';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld, V2_BODY } from '../signer-world.ts';
import { type Attempt, createDpopWorld, expectChallenge, steadyClock } from './dpop-world.ts';

const clock = steadyClock();
const world = await useSignerWorld({ parts: { now: clock, clocks: {} } });
const dpop = await createDpopWorld(world, clock);
const { token, htu, path, key } = dpop;
const thief = await createDpopKey();
const unbound = await world.token();
const now = clock() / 1000;
const { publicJwk } = key;
const otherOrigin = htu.replace('127.0.0.1', 'localhost');

/** A first good request, so that everything it creates exists before the tables below. */
let before: unknown;
beforeAll(async () => {
  expect((await dpop.send()).status).toBe(200);
  before = await dpop.traces();
});

/** Requires this refusal, without a charged turn, a reserved nonce or an audit line. */
async function expectNoTrace(answer: Reply, error: string): Promise<void> {
  expectRefusal(answer, { status: 401 });
  expectChallenge(answer, error);
  expect(await dpop.traces()).toEqual(before);
}

const claims: Record<string, Readonly<Record<string, unknown>>> = {
  'htm of another method': { htm: 'GET' },
  'htm in lower case': { htm: 'post' },
  'htm missing': { htm: undefined },
  'htm in an array': { htm: ['POST'] },
  'htu of another host': { htu: otherOrigin },
  'htu of a host that begins like ours': { htu: htu.replace('127.0.0.1', '127.0.0.1.evil.test') },
  'htu of another port': { htu: htu.replace(/:\d+\//, ':1/') },
  'htu without the port': { htu: htu.replace(/:\d+\//, '/') },
  'htu of another scheme': { htu: htu.replace('http:', 'https:') },
  'htu of another intern': { htu: htu.replace(world.tenants.internId, 'int_other') },
  'htu of another route': { htu: htu.replace('/sign', '/jwks.json') },
  'htu of the base address': { htu: world.baseUrl },
  'htu with a slash more': { htu: `${htu}/` },
  'htu with a query': { htu: `${htu}?a=1` },
  'htu with an empty query': { htu: `${htu}?` },
  'htu with a fragment': { htu: `${htu}#a` },
  'htu with user information': { htu: htu.replace('//', '//ada@') },
  'htu with a path in capitals': { htu: htu.replace('/daemon/', '/DAEMON/') },
  'htu with a path encoded needlessly': { htu: htu.replace('/daemon/', '/d%61emon/') },
  'htu with dot segments': { htu: htu.replace('/daemon/', '/x/../daemon/') },
  'htu with a backslash': { htu: htu.replace('/daemon/', '\\daemon/') },
  'htu with a leading space': { htu: ` ${htu}` },
  'htu that is a path alone': { htu: path },
  'htu missing': { htu: undefined },
  'htu in an array': { htu: [htu] },
  'ath missing': { ath: undefined },
  'ath empty': { ath: '' },
  'ath in hex': { ath: '0'.repeat(64) },
  'ath in an array': { ath: ['x'] },
  'jti missing': { jti: undefined },
  'jti empty': { jti: '' },
  'jti a number': { jti: 1 },
  'jti of 129 characters': { jti: 'x'.repeat(129) },
  'jti in an array': { jti: ['x'] },
  'iat missing': { iat: undefined },
  'iat a string': { iat: String(now) },
  'iat negative': { iat: -1 },
  'iat null': { iat: null },
  'exp past': { exp: now - 1 },
  'exp a string': { exp: String(now + 60) },
  'nbf to come': { nbf: now + 600 },
  'nonce a number': { nonce: 1 },
  'nonce in an array': { nonce: [dpop.nonce()] },
};

test.each(Object.entries(claims))('refuses a proof with %s', async (_, wrong) => {
  await expectNoTrace(
    await dpop.send({ proofs: [await dpop.proof({ claims: wrong })] }),
    'invalid_dpop_proof',
  );
});

const rsa = await createDpopKey('PS256');
const p384 = await createDpopKey('ES384');
const hmacKey = new TextEncoder().encode(JSON.stringify(publicJwk));
const headers: Record<string, Pick<DpopProofOptions, 'header' | 'signWith'>> = {
  'typ missing': { header: { typ: undefined } },
  'typ JWT': { header: { typ: 'JWT' } },
  'typ of an access token': { header: { typ: 'at+jwt' } },
  'typ in capitals': { header: { typ: 'DPOP+JWT' } },
  'alg none': { header: { alg: 'none' } },
  'alg HS256, under the public key': { header: { alg: 'HS256' }, signWith: hmacKey },
  'alg PS256, which is not offered': {
    header: { alg: 'PS256', jwk: rsa.publicJwk },
    signWith: rsa.privateKey,
  },
  'alg ES384, which is not offered': {
    header: { alg: 'ES384', jwk: p384.publicJwk },
    signWith: p384.privateKey,
  },
  'a critical extension': { header: { crit: ['b64'], b64: true } },
  'no jwk': { header: { jwk: undefined } },
  'a kid instead of a jwk': { header: { jwk: undefined, kid: key.thumbprint } },
  'a jku instead of a jwk': { header: { jwk: undefined, jku: `${world.issuer.url}/jwks` } },
  'the private key in the header': { header: { jwk: key.privateJwk } },
  'a private member that is null': { header: { jwk: { ...publicJwk, d: null } } },
  'a symmetric jwk': { header: { jwk: { kty: 'oct', k: encode(publicJwk) } } },
  'a jwk of another type': { header: { jwk: { ...publicJwk, kty: 'OKP' } } },
  'a jwk of another curve': { header: { jwk: { ...publicJwk, crv: 'secp256k1' } } },
  'a coordinate too short': { header: { jwk: { ...publicJwk, x: publicJwk.x?.slice(1) } } },
  'a point off the curve': { header: { jwk: { ...publicJwk, x: publicJwk.y, y: publicJwk.x } } },
  'a jwk without y': { header: { jwk: { ...publicJwk, y: undefined } } },
  'a jwk in an array': { header: { jwk: [publicJwk] } },
  'a jwk that is text': { header: { jwk: JSON.stringify(publicJwk) } },
  'the signature of another key': { signWith: thief.privateKey },
};

test.each(Object.entries(headers))('refuses a proof with %s', async (_, wrong) => {
  await expectNoTrace(await dpop.send({ proofs: [await dpop.proof(wrong)] }), 'invalid_dpop_proof');
});

describe('the claim over the content', () => {
  const sha256 = (encoding: 'hex' | 'base64' | 'base64url', content = V2_BODY) =>
    createHash('sha256').update(content).digest(encoding);
  const another = V2_BODY.replace(/[0-9a-f]{64}/, 'a'.repeat(64));
  const claim = (value: unknown) => ({ claims: { [CONTENT_CLAIM]: value } });
  const wrong: Record<string, [options: Partial<DpopProofOptions>, body?: string]> = {
    'no claim': [claim(undefined)],
    'the claim null': [claim(null)],
    'the digest of another content': [claim(sha256('base64url', another))],
    'the digest of no content': [claim(sha256('base64url', ''))],
    'the digest in hex': [claim(sha256('hex'))],
    'the digest in base64, padded': [claim(sha256('base64'))],
    'the digest in base64url, padded': [claim(`${sha256('base64url')}=`)],
    'the digest in an array': [claim([sha256('base64url')])],
    'the claim under the draft name': [
      { claims: { [CONTENT_CLAIM]: undefined, 'CAMARA:bh': sha256('base64url') } },
    ],
    'a digest inside that a server in between changed': [{}, another],
    'a path that a server in between changed': [{}, V2_BODY.replace('/api/invoke', '/api/delete')],
    'a space more': [{}, `${V2_BODY} `],
    'a byte less': [{}, V2_BODY.slice(0, -1)],
    'another order of the members': [
      {},
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(V2_BODY)).reverse())),
    ],
    'no content at all': [{}, ''],
  };

  test.each(Object.entries(wrong))('refuses %s, and names the claim', async (_, [options, body]) => {
    const answer = await dpop.send({
      proofs: [await dpop.proof(options)],
      ...(body !== undefined && { body }),
    });
    await expectNoTrace(answer, 'invalid_dpop_proof');
    expect(answer.text).toContain('x-camara:bh');
  });

  test('a proof that came with another content is spent', async () => {
    const proofs = [await dpop.proof()];
    expect((await dpop.send({ proofs, body: another })).text).toContain('x-camara:bh');
    const again = await dpop.send({ proofs });
    await expectNoTrace(again, 'invalid_dpop_proof');
    expect(again.text).toContain('used before');
  });

  test('covers the bytes as they are sent, in any number of chunks and with any white space', async () => {
    const body = `\n${V2_BODY.replaceAll(',', ' ,\t')}\n`;
    const proof = await dpop.proof({ content: body });
    const headers = ['Authorization', `DPoP ${token}`, 'DPoP', proof, 'Content-Type', 'application/json'];
    const answer = await world.request({ method: 'POST', path, headers, body: [...body] });
    expect(answer.status).toBe(200);
    before = await dpop.traces();
  });
});

describe('refuses', async () => {
  const good = () => dpop.proof();
  const parts = (await good()).split('.');
  const [header = '', payload = '', signature = ''] = parts;
  const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt, 'base64url').toString()) as object;
  const forms: Record<string, readonly string[]> = {
    'no DPoP header': [],
    'an empty one': [''],
    'two proofs': [await good(), await good()],
    'the same proof twice': [parts.join('.'), parts.join('.')],
    'two proofs in one header': [`${await good()}, ${await good()}`],
    'what is no JWT': ['proof'],
    'the access token as its own proof': [token],
    'a JWS of four parts': [`${parts.join('.')}.x`],
    'a JWS without its signature': [`${header}.${payload}.`],
    'a signature cut short': [`${header}.${payload}.${signature.slice(0, -4)}`],
    'a payload changed after signing': [
      `${header}.${encode({ ...claimsOf(payload), jti: 'new' })}.${signature}`,
    ],
    'a header changed after signing': [
      `${encode({ ...claimsOf(header), kid: 'x' })}.${payload}.${signature}`,
    ],
    'claims that are an array': [`${header}.${encode([1])}.${signature}`],
    'a proof of more than 4096 characters': [await dpop.proof({ claims: { more: 'x'.repeat(4096) } })],
  };
  test.each(Object.entries(forms))('%s', async (_, proofs) => {
    await expectNoTrace(await dpop.send({ proofs }), 'invalid_dpop_proof');
  });
});

test('refuses a proof for another access token of the same key', async () => {
  const other = await world.token({ claims: { cnf: { jkt: key.thumbprint }, jti: 'another' } });
  const proofs = [await dpop.proof({ accessToken: other })];
  await expectNoTrace(await dpop.send({ proofs }), 'invalid_dpop_proof');
});

test('refuses a header of more than 24 KiB', async () => {
  const { status } = await dpop.send({ proofs: ['x'.repeat(25_000)] }).catch(() => ({ status: 431 }));
  expect(status).toBe(431);
  expect(await dpop.traces()).toEqual(before);
});

const thiefProof = () => thief.proof({ url: htu, accessToken: token, nonce: dpop.nonce() });
const opaque = (members: object) => world.issuer.opaqueToken({ claims: { ...members } });
const bound = opaque({ cnf: { jkt: key.thumbprint }, token_type: 'DPoP' });
const bindings: Record<string, () => Promise<Attempt>> = {
  'a bound token as Bearer': async () => ({ authorization: `Bearer ${token}`, proofs: [] }),
  'a bound token as Bearer, with a valid proof': async () => ({ authorization: `Bearer ${token}` }),
  'a bound opaque token as Bearer': async () => ({ authorization: `Bearer ${bound}`, proofs: [] }),
  'a stolen token with the thief’s key': async () => ({ proofs: [await thiefProof()] }),
  'an unbound token with DPoP': async () => ({
    authorization: `DPoP ${unbound}`,
    proofs: [await dpop.proof({ accessToken: unbound })],
  }),
  'an unbound opaque token with DPoP': async () => {
    const accessToken = opaque({});
    return { authorization: `DPoP ${accessToken}`, proofs: [await dpop.proof({ accessToken })] };
  },
  'an API key with DPoP': async () => ({
    authorization: `DPoP ${world.tenants.apiKey}`,
    proofs: [await dpop.proof({ accessToken: world.tenants.apiKey })],
  }),
};

test.each(Object.entries(bindings))('refuses %s', async (_, attempt) => {
  await expectNoTrace(await dpop.send(await attempt()), 'invalid_token');
});

const strange = createDpopNonces(
  () => [new Uint8Array(32)],
  clock,
  () => dpop.nonce().split('.')[1],
).current();
const [slot, epoch, tag] = dpop.nonce().split('.');
const nonces: Record<string, Partial<DpopProofOptions>> = {
  'no nonce': { claims: { nonce: undefined } },
  'no nonce, from a clock 10 minutes slow': { claims: { nonce: undefined, iat: now - 600 } },
  'no nonce, from a clock 10 minutes fast': { claims: { nonce: undefined, iat: now + 600 } },
  'an empty nonce': { nonce: '' },
  'an invented nonce': { nonce: 'AAECAwQFBgcICQoLDA0ODw' },
  'a nonce of another epoch': { nonce: `${slot}.${'A'.repeat(12)}.${tag}` },
  'a nonce of another period': { nonce: `${Number(slot) + 1}.${epoch}.${tag}` },
  'a nonce with another tag': { nonce: `${slot}.${epoch}.${'A'.repeat(22)}` },
  'a nonce with something before it': { nonce: ` ${dpop.nonce()}` },
  'a nonce of other signers': { nonce: strange },
  'an expired nonce': { nonce: dpop.nonce(-2) },
  'an expired nonce, from a correct clock': { nonce: dpop.nonce(-3), claims: { iat: now } },
  'a nonce of the future': { nonce: dpop.nonce(3) },
};

test.each(Object.entries(nonces))('sends its own nonce if a proof has %s', async (_, options) => {
  const answer = await dpop.send({ proofs: [await dpop.proof(options)] });
  await expectNoTrace(answer, 'use_dpop_nonce');
  const nonce = String(answer.headers['dpop-nonce']);
  expect(nonce).toMatch(/^\d+\.[\w-]{12}\.[\w-]{22}$/);
});

const certificate: Record<string, object> = {
  'to a certificate': { 'x5t#S256': key.thumbprint },
  'to a certificate and a key': { 'x5t#S256': key.thumbprint, jkt: key.thumbprint },
};

test.each(Object.entries(certificate))('refuses a token bound %s, and says why', async (_, cnf) => {
  for (const bearer of [await world.token({ claims: { cnf } }), opaque({ cnf })]) {
    const answer = await world.sign({ bearer });
    expectRefusal(answer, { status: 401 });
    expect(answer.text).toContain('TLS client certificate');
  }
});

describe('a proof is good once', () => {
  test('refuses it for the same request', async () => {
    const proofs = [await dpop.proof()];
    expect((await dpop.send({ proofs })).status).toBe(200);
    before = await dpop.traces();
    await expectNoTrace(await dpop.send({ proofs }), 'invalid_dpop_proof');
  });

  test('refuses it under a new signature and with other claims', async () => {
    const jti = 'used before';
    expect((await dpop.send({ proofs: [await dpop.proof({ claims: { jti } })] })).status).toBe(200);
    before = await dpop.traces();
    const again = await dpop.proof({ claims: { jti, more: 1 } });
    await expectNoTrace(await dpop.send({ proofs: [again] }), 'invalid_dpop_proof');
  });

  test.each([
    ['a bad body', { body: '{}' }, 400],
    ['an unknown intern', { path: path.replace(world.tenants.internId, 'int_absent') }, 404],
  ])('refuses it after it was used with %s', async (_, attempt: Attempt, status) => {
    const url = `${new URL(htu).origin}${attempt.path ?? path}`;
    const proofs = [
      await dpop.proof({ url, ...(attempt.body !== undefined && { content: attempt.body as string }) }),
    ];
    expect((await dpop.send({ ...attempt, proofs })).status).toBe(status);
    await expectNoTrace(await dpop.send({ ...attempt, proofs }), 'invalid_dpop_proof');
  });

  test('accepts one of fifty concurrent copies', async () => {
    const proofs = [await dpop.proof()];
    const answers = await Promise.all(Array.from({ length: 50 }, () => dpop.send({ proofs })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(401)]);
  });
});
