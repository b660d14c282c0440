import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderProof } from './headers.ts';
import { newestSignature, parseProofHeaders } from './read-headers.ts';
import { ALL_VERSIONS, headersOf, isSingleUse, issuedVersions, PROOF_HEADERS } from './versions.ts';

const signature = fc.uint8Array({ minLength: 64, maxLength: 64 });
const proof = fc.record(
  {
    timestamp: fc.integer({ min: 0, max: 999_999_999_999 }),
    user: fc.stringMatching(/^[!-+\x2d-~]{1,255}$/),
    signatureV1: signature,
    v2: fc.record({ signature, nonce: fc.stringMatching(/^[A-Za-z0-9_-]{21}[AQgw]$/) }),
  },
  { requiredKeys: ['timestamp', 'user', 'signatureV1'] },
);
const EXAMPLE = {
  timestamp: 1789000000,
  user: 'user_2abc',
  signatureV1: new Uint8Array(64).fill(1),
  v2: { signature: new Uint8Array(64).fill(2), nonce: 'AAECAwQFBgcICQoLDA0ODw' },
};
const render = ({ timestamp, user, signatureV1, v2 }: Omit<typeof EXAMPLE, 'v2'> & Partial<typeof EXAMPLE>) =>
  renderProof({
    timestamp,
    user,
    nonce: v2?.nonce,
    signatures: [
      { version: 1, signature: signatureV1 },
      ...(v2 ? [{ version: 2 as const, signature: v2.signature }] : []),
    ],
  });
const RAW = Object.entries(render(EXAMPLE)).flat();

test('rendered headers are parsed back, among other headers and in any case', () => {
  const noise = fc.array(fc.tuple(fc.constantFrom('host', 'x_ori_invoke_user', 'accept'), fc.string()));
  fc.assert(
    fc.property(proof, noise, fc.infiniteStream(fc.boolean()), (p, others, upper) => {
      const pairs = Object.entries(render(p)).map(([name, value]) => [
        [...name].map((letter) => (upper.next().value ? letter.toUpperCase() : letter)).join(''),
        value,
      ]);
      expect(parseProofHeaders([...others, ...pairs].flat())).toEqual({
        timestamp: p.timestamp,
        user: p.user,
        v1: { signature: p.signatureV1 },
        ...(p.v2 === undefined ? {} : { v2: p.v2 }),
      });
    }),
  );
});

test.each(ALL_VERSIONS)('a proof of version %i is judged by the signature of that version', (version) => {
  const of = (one: number) => new Uint8Array(64).fill(one);
  const signatures = ALL_VERSIONS.filter((one) => one <= version).map((one) => ({
    version: one,
    signature: of(one),
  }));
  const { nonce } = EXAMPLE.v2;
  const values = renderProof({ timestamp: 1, user: 'a', nonce, signatures });
  const newest = newestSignature(parseProofHeaders(Object.entries(values).flat()));
  expect(newest).toEqual({ version, signature: of(version), ...(isSingleUse(version) && { nonce }) });
});

test('the signing response has three keys, or five with version 2', () => {
  expect(Object.keys(render(EXAMPLE)).toSorted()).toEqual(headersOf(2).toSorted());
  const { v2: _, ...v1 } = EXAMPLE;
  expect(Object.keys(render(v1))).toHaveLength(3);
});

test.each([PROOF_HEADERS.signature, PROOF_HEADERS.timestamp, PROOF_HEADERS.user])(
  'the refusal of a request without %s names it',
  (name) => {
    expect(() => parseProofHeaders(RAW.toSpliced(RAW.indexOf(name), 2))).toThrow(name);
  },
);

// A vector has only bytes, of which a name like these has three.
test.each(['x-ori-invo\u212ae-user', 'x-ori-invoke-u\u017fer'])(
  'folds nothing outside ASCII in %s',
  (name) => {
    const rawHeaders = RAW.toSpliced(RAW.indexOf(PROOF_HEADERS.user), 1, name);
    expect(() => parseProofHeaders(rawHeaders)).toThrow(expect.objectContaining({ code: 'proof_missing' }));
  },
);

test('a value equal to a header name is not read as a header', () => {
  expect(parseProofHeaders(['referer', PROOF_HEADERS.user, ...RAW]).user).toBe(EXAMPLE.user);
});

test('a list that is not pairs throws a TypeError', () => {
  expect(() => parseProofHeaders(['host'])).toThrow(TypeError);
});

test.each([
  ['a timestamp with a fraction', { ...EXAMPLE, timestamp: 0.5 }],
  ['a user with a comma', { ...EXAMPLE, user: 'a,b' }],
  ['a short signature', { ...EXAMPLE, signatureV1: new Uint8Array(63) }],
  ['a nonce outside its alphabet', { ...EXAMPLE, v2: { ...EXAMPLE.v2, nonce: 'x' } }],
])('renders nothing for %s', (_, values) => {
  expect(() => render(values)).toThrow(TypeError);
});

test('a version 1 proof has three headers, and is all that is issued without a route', () => {
  expect(headersOf(1)).toEqual(['x-ori-invoke-signature', 'x-ori-invoke-timestamp', 'x-ori-invoke-user']);
  expect([issuedVersions(false), issuedVersions(true)]).toEqual([[1], [1, 2]]);
});

test.each(Object.values(PROOF_HEADERS))('a second %s is refused, whatever its case and value', (name) => {
  for (const again of [name, name.toUpperCase()]) {
    const twice = () => parseProofHeaders([...RAW, again, RAW[RAW.indexOf(name) + 1] ?? '']);
    expect(twice).toThrow(expect.objectContaining({ code: 'proof_malformed' }));
  }
});

test.each<[string, keyof typeof PROOF_HEADERS, string?]>([
  ['a timestamp of another alphabet', 'timestamp', '01789000000'],
  ['a user of another alphabet', 'user', 'a,b'],
  ['a signature of another alphabet', 'signature', '!'],
  ['a version 2 signature of another alphabet', 'signatureV2', '!'],
  ['a nonce of another alphabet', 'nonce', 'AAECAwQFBgcICQoLDA0ODx'],
  ['no version 2 signature', 'signatureV2'],
  ['no nonce', 'nonce'],
])('%s is refused', (_what, header, value) => {
  const at = RAW.indexOf(PROOF_HEADERS[header]);
  const rawHeaders = value === undefined ? RAW.toSpliced(at, 2) : RAW.with(at + 1, value);
  expect(() => parseProofHeaders(rawHeaders)).toThrow(expect.objectContaining({ code: 'proof_malformed' }));
});
