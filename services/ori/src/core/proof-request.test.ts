import { bodySha256 } from '@ori/proof/wire';
import { createTestSigner } from '@ori/verifier/testing';
import { expect, it } from 'vitest';
import {
  isOfNow,
  readProof,
  requireBodySha256,
  requireInternId,
  requirePath,
  signingBody,
} from './proof-request.ts';

const BODY = '{"prompt":"hello"}';
const DIGEST = bodySha256(Buffer.from(BODY));
const V2 = { internId: 'int_7Qm2', bodySha256: DIGEST, path: '/api/invoke' };
const signer = createTestSigner({ internId: 'int_7Qm2' });
const proofV2 = { ...signer.sign({ path: '/api/invoke', body: BODY }) };
const proofV1 = { ...signer.sign({ path: '/api/invoke', body: BODY, version: 1 }) };

it('asks for a proof of this route', () => {
  expect(JSON.parse(signingBody(V2))).toEqual({
    bodySha256: DIGEST,
    route: { method: 'POST', path: '/api/invoke' },
  });
});

it('accepts a proof that covers the path, and no other', () => {
  expect(readProof(proofV2)).toEqual(proofV2);
  expect(readProof(proofV1)).toBeUndefined();
});

// SPEC.md C2.
it('refuses a value that could become another header', () => {
  for (const change of [
    { 'x-ori-invoke-user': 'ada\r\nx-evil: 1' },
    { 'x-ori-invoke-user': 'a b' },
    { 'x-ori-invoke-timestamp': '01' },
    { 'x-ori-invoke-timestamp': 1789000000 },
    { 'x-ori-invoke-signature': 'AAAA' },
    { 'x-ori-invoke-nonce': undefined },
    { 'x-other': 'value' },
  ]) {
    expect(readProof({ ...proofV2, ...change }), JSON.stringify(change)).toBeUndefined();
  }
  for (const value of [null, [], 'text', 1, {}]) expect(readProof(value)).toBeUndefined();
});

it('refuses a request that no proof can cover before sending anything', () => {
  for (const path of ['', 'api', '/a b', '/a?b', '/a#b', '/ä', '/a\n', `/${'a'.repeat(2048)}`]) {
    expect(() => requirePath(path), path).toThrow(expect.objectContaining({ code: 'path_not_signable' }));
  }
  for (const path of ['/', '/a%20b', '//a/../b;c=d', `/${'a'.repeat(2047)}`])
    expect(requirePath(path)).toBe(path);
  for (const id of ['', '../x', 'a/b', 'a%2fb', '-a']) {
    expect(() => requireInternId(id), id).toThrow(expect.objectContaining({ code: 'intern_id_malformed' }));
  }
  for (const hex of ['', DIGEST.toUpperCase(), `${DIGEST} `, DIGEST.slice(1)]) {
    expect(() => requireBodySha256(hex), hex).toThrow(expect.objectContaining({ code: 'usage' }));
  }
});

it.each([
  ['as old as its answer', {}, 0, true],
  ['on a computer with a wrong clock', { date: new Date().toUTCString() }, 86_400, true],
  ['older than its answer', { date: new Date(Date.now() + 90_000).toUTCString() }, 0, false],
  ['from a cache', { date: new Date().toUTCString(), age: '90' }, 0, false],
  ['newer than its answer', { date: new Date(Date.now() - 90_000).toUTCString() }, 0, false],
  ['old, in an answer without a date', {}, 90, false],
])('judges the time of a proof that is %s', (_what, headers, aheadSeconds, expected) => {
  const answer = { status: 200, headers, body: '' };
  expect(isOfNow(proofV2, answer, Date.now() / 1000 + aheadSeconds)).toBe(expected);
});
