import { PROOF_HEADERS, type ProofErrorCode } from '@ori/proof/wire';
import { expect, test } from 'vitest';
import { createLocalKeySet } from './keys/local.ts';
import type { VerifierOptions } from './policy.ts';
import type { SignedRequest } from './request.ts';
import { createTestReplayStore, createTestSigner, type TestProofOptions } from './testing/testing.ts';
import { createVerifier } from './verifier.ts';

// What a verifier refuses, one row for each rule of SPEC.md, section 4; a rule that is taken out is red here.

const NOW = 1_789_000_000;
const seed = Buffer.alloc(32, 1);
const signer = createTestSigner({ internId: 'int_7Qm2', seed });
const stranger = createTestSigner({ internId: 'int_7Qm2' });
const otherIntern = createTestSigner({ internId: 'int_other', seed });

const PROOF = { path: '/api/invoke', body: '{"prompt":"hello"}', user: 'ada', timestamp: NOW };
const QUESTION = `/.well-known/ori/calls/${'A'.repeat(22)}`;
const signed = (options: Partial<TestProofOptions> = {}) => signer.request({ ...PROOF, ...options });
const withHeaders = (...more: string[]): SignedRequest => {
  const request = signed();
  return { ...request, rawHeaders: [...request.rawHeaders, ...more] };
};
/** With `value` in the place of the header's own, or without the header. */
const replaced = (name: string, value?: string): SignedRequest => {
  const request = signed();
  const pairs = Array.from({ length: request.rawHeaders.length / 2 }, (_, at) =>
    request.rawHeaders.slice(2 * at, 2 * at + 2),
  );
  const others = pairs.filter(([one]) => one?.toLowerCase() !== name.toLowerCase());
  return { ...request, rawHeaders: [...others, ...(value === undefined ? [] : [[name, value]])].flat() };
};

function verify(request: SignedRequest, options: Partial<VerifierOptions> = {}) {
  const keys = createLocalKeySet(signer.jwks);
  const replay = { spend: () => 'spent' as const };
  return createVerifier({ internId: 'int_7Qm2', keys, replay, now: () => NOW * 1000, ...options }).verify(
    request,
  );
}

test.each<[string, SignedRequest, Partial<VerifierOptions>?]>([
  ['a proof', signed()],
  ['the oldest and the newest time', signed({ timestamp: NOW - 60 })],
  ['a clock ahead within the tolerance', signed({ timestamp: NOW + 2 })],
  ['charset=utf-8', replaced('content-type', 'application/json; charset=utf-8')],
  ['the identity coding', withHeaders('Content-Encoding', 'identity')],
  [
    'another media type, as set',
    replaced('content-type', 'application/cbor'),
    { contentType: 'application/cbor' },
  ],
  ['version 1, as set', signed({ version: 1 }), { acceptV1: true }],
])('accepts %s', async (_, request, options) => {
  await expect(verify(request, options)).resolves.toMatchObject({ user: 'ada' });
});

test('verifiers of two media types on one store accept a proof once between them', async () => {
  const once = { replay: createTestReplayStore(), now: Date.now };
  const request = signer.request({ path: '/api/invoke', body: '{}' });
  await verify(request, once);
  const other = { ...request, rawHeaders: request.rawHeaders.with(1, 'application/cbor') };
  await expect(verify(other, { ...once, contentType: 'application/cbor' })).rejects.toMatchObject({
    code: 'nonce_replayed',
  });
});

test.each<[string, ProofErrorCode, SignedRequest]>([
  ['no proof', 'proof_missing', { ...signed(), rawHeaders: ['Content-Type', 'application/json'] }],
  ['a proof without its user', 'proof_missing', replaced(PROOF_HEADERS.user)],
  ['a proof without its nonce', 'proof_malformed', replaced(PROOF_HEADERS.nonce)],
  ['a second user', 'proof_malformed', withHeaders(PROOF_HEADERS.user, 'eve')],
  ['a time that is no number', 'proof_malformed', replaced(PROOF_HEADERS.timestamp, '1e9')],
  ['a signature that is not base64', 'proof_malformed', replaced(PROOF_HEADERS.signature, '!')],
  ['version 1', 'proof_version_not_accepted', signed({ version: 1 })],
  ['a question where no answers are kept', 'answers_not_kept', signed({ path: QUESTION })],
  ['a question with an escape', 'request_not_coverable', signed({ path: QUESTION.replace('.', '%2e') })],
  ['a question with two slashes', 'request_not_coverable', signed({ path: `/${QUESTION}` })],
  ['another method', 'request_not_coverable', { ...signed(), method: 'PUT' }],
  ['a query', 'request_not_coverable', { ...signed({ path: '/a' }), target: '/a?b' }],
  ['an absolute target', 'request_not_coverable', { ...signed(), target: 'http://daemon/api/invoke' }],
  ['no Content-Type', 'request_not_coverable', replaced('content-type')],
  ['a second Content-Type', 'request_not_coverable', withHeaders('Content-Type', 'application/json')],
  ['another media type', 'request_not_coverable', replaced('content-type', 'text/plain')],
  ['another charset', 'request_not_coverable', replaced('content-type', 'application/json; charset=latin1')],
  ['a content coding', 'request_not_coverable', withHeaders('Content-Encoding', 'gzip')],
  ['a proof that is too old', 'proof_expired', signed({ timestamp: NOW - 61 })],
  ['a proof from the future', 'proof_not_yet_valid', signed({ timestamp: NOW + 3 })],
  ['another body', 'signature_invalid', { ...signed(), body: Buffer.from('{"prompt":"hullo"}') }],
  ['another path', 'signature_invalid', { ...signed(), target: '/api/other' }],
  ['another user', 'signature_invalid', replaced(PROOF_HEADERS.user, 'eve')],
  ['another time', 'signature_invalid', replaced(PROOF_HEADERS.timestamp, String(NOW - 1))],
  ['another nonce', 'signature_invalid', replaced(PROOF_HEADERS.nonce, 'AAECAwQFBgcICQoLDA0ODw')],
  ['a key that is not published', 'signature_invalid', stranger.request(PROOF)],
  ['a proof for another intern', 'signature_invalid', otherIntern.request(PROOF)],
])('refuses %s: %s', async (_, code, request) => {
  await expect(verify(request)).rejects.toMatchObject({ code });
});

test('refuses a proof that was accepted before', async () => {
  const live = createTestSigner({ internId: 'int_7Qm2' });
  const verifier = createVerifier({
    internId: 'int_7Qm2',
    keys: createLocalKeySet(live.jwks),
    replay: createTestReplayStore(),
  });
  const request = live.request({ path: '/api/invoke', body: '{}' });
  await verifier.verify(request);
  await expect(verifier.verify(request)).rejects.toMatchObject({ code: 'nonce_replayed' });
});

test('refuses where no key is valid at the time of the proof', async () => {
  const { keys } = signer.jwks as unknown as { keys: object[] };
  const ended = keys.map((key) => ({ ...key, exp: NOW - 1, nbf: NOW - 100 }));
  await expect(verify(signed(), { keys: createLocalKeySet({ keys: ended } as never) })).rejects.toMatchObject(
    { code: 'key_unknown' },
  );
});
