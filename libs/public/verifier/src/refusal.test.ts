import { readFileSync } from 'node:fs';
import {
  KeyError,
  OriError,
  ProofError,
  type ProofErrorCode,
  UnavailableError,
  type UnavailableErrorCode,
} from '@ori/proof';
import { expect, test } from 'vitest';
import { BODY_INCOMPLETE, INTERNAL_ERROR, REFUSAL_CODES, toRefusal } from './refusal.ts';

const UNAUTHORIZED: ProofErrorCode[] = [
  'proof_missing',
  'proof_malformed',
  'proof_version_not_accepted',
  'request_not_coverable',
  'proof_expired',
  'proof_not_yet_valid',
  'key_unknown',
  'signature_invalid',
  'nonce_replayed',
  'nonce_not_issued',
  'proof_before_fence',
];
const UNAVAILABLE: UnavailableErrorCode[] = [
  'keys_unavailable',
  'replay_store_unavailable',
  'replay_store_unsafe',
  'replay_store_full',
];

// SPEC.md E1, E2, E3, E4, E5.
test.each(UNAUTHORIZED)('answers %s with 401 and a challenge, for nobody to keep', (code) => {
  const refusal = toRefusal(new ProofError(code, 'internal'));
  expect(refusal).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Ori-Proof', 'cache-control': 'no-store' },
  });
  expect(refusal?.headers).not.toHaveProperty('retry-after');
  expect(JSON.parse(refusal?.body ?? '')).toEqual({ error: { code, message: expect.any(String) } });
});

test('answers body_too_large with 413', () => {
  const refusal = toRefusal(new ProofError('body_too_large', 'internal'));
  expect(refusal).toMatchObject({ status: 413, headers: { 'cache-control': 'no-store' } });
  expect(refusal?.headers).not.toHaveProperty('retry-after');
});

test.each(UNAVAILABLE)('answers %s with 503', (code) => {
  const refusal = toRefusal(new UnavailableError(code, 'internal'));
  expect(refusal?.status).toBe(503);
  expect(refusal?.headers).not.toHaveProperty('www-authenticate');
  expect(JSON.parse(refusal?.body ?? '').error.code).toBe(code);
});

test.each([
  [500, 'internal_error', INTERNAL_ERROR],
  [400, 'body_incomplete', BODY_INCOMPLETE],
])('answers %d %s as JSON that nobody may keep', (status, code, answer) => {
  expect(answer).toEqual({
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: expect.any(String),
  });
  expect(JSON.parse(String(answer.body))).toEqual({ error: { code, message: expect.any(String) } });
});

test('the README documents exactly these codes with their statuses', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const rows = [...readme.matchAll(/^\| <a id="(\w+)"><\/a>`\1` \| (401|404|413|503) \|/gm)].map(
    ([, code, status]) => [code, Number(status)],
  );
  expect(rows.map(([code]) => code).toSorted()).toEqual(REFUSAL_CODES.toSorted());
  expect(Object.fromEntries(rows)).toEqual({
    ...Object.fromEntries(UNAUTHORIZED.map((code) => [code, 401])),
    answers_not_kept: 404,
    body_too_large: 413,
    ...Object.fromEntries(UNAVAILABLE.map((code) => [code, 503])),
  });
});

test('every error names the row of the README that explains it', () => {
  expect(new ProofError('nonce_replayed', 'internal').message).toMatch(/README\.md#nonce_replayed\b/);
  expect(new UnavailableError('keys_unavailable', 'internal').message).toMatch(
    /README\.md#keys_unavailable\b/,
  );
});

test('every error of the library is an instance of one class', () => {
  for (const error of [
    new ProofError('nonce_replayed', 'internal'),
    new UnavailableError('keys_unavailable', 'internal'),
    new KeyError('key_length', 'internal'),
  ]) {
    expect(error).toBeInstanceOf(OriError);
    expect(error.code).toBeTypeOf('string');
  }
});

// SPEC.md E4.
test('says after how many seconds to sign again', () => {
  const error = new ProofError('proof_before_fence', 'internal', { retryAfterSeconds: 3 });
  expect(toRefusal(error)?.headers['retry-after']).toBe('3');
});

test('reveals nothing about the daemon to the client', () => {
  const error = new UnavailableError('keys_unavailable', 'secret-host:6379', { cause: new Error('secret') });
  expect(JSON.stringify(toRefusal(error))).not.toContain('secret');
});

test.each([new TypeError('x'), new Error('x'), 'x', undefined])('is undefined for %o', (error) => {
  expect(toRefusal(error)).toBeUndefined();
});
