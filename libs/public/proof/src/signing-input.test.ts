import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ProofV2, signingInputV1, signingInputV2 } from './signing-input.ts';

const EXAMPLE: ProofV2 = {
  internId: 'int_7Qm2',
  timestamp: 1789000000,
  user: 'user_2abc',
  bodySha256: 'a'.repeat(64),
  nonce: 'AAECAwQFBgcICQoLDA0ODw',
  method: 'POST',
  path: '/api/invoke',
};

const text = fc.stringMatching;
/** Characters of the netstring syntax are frequent, because they could make two inputs equal. */
const proof: fc.Arbitrary<ProofV2> = fc.record({
  internId: text(/^[A-Za-z0-9][A-Za-z0-9_-]{0,9}$/),
  timestamp: fc.integer({ min: 0, max: 999_999_999_999 }),
  user: fc.oneof(text(/^[0-9:]{1,12}$/), text(/^[!-+\x2d-~]{1,12}$/)),
  bodySha256: text(/^[0-9a-f]{64}$/),
  nonce: text(/^[A-Za-z0-9_-]{21}[AQgw]$/),
  method: fc.constant('POST' as const),
  path: fc.oneof(text(/^\/[0-9:,]{0,12}$/), text(/^\/[!-"$->@-~]{0,12}$/)),
});

/** Parses netstrings, independently of the code that writes them. */
function readNetstrings(bytes: Uint8Array): string[] {
  const fields: string[] = [];
  let rest = Buffer.from(bytes).toString('latin1');
  while (rest !== '') {
    const [head, digits = ''] = /^([0-9]+):/.exec(rest) ?? [];
    if (head === undefined) throw new Error('not a netstring');
    fields.push(rest.slice(head.length, head.length + Number(digits)));
    if (rest.charAt(head.length + Number(digits)) !== ',') throw new Error('not a netstring');
    rest = rest.slice(head.length + Number(digits) + 1);
  }
  return fields;
}

test('every field can be parsed from the bytes, so different proofs have different bytes', () => {
  fc.assert(
    fc.property(proof, (p) => {
      const timestamp = String(p.timestamp);
      expect(readNetstrings(signingInputV1(p))).toEqual([
        'ori-invoke-v1',
        p.internId,
        timestamp,
        p.user,
        p.bodySha256,
      ]);
      expect(readNetstrings(signingInputV2(p))).toEqual([
        'ori-invoke-v2',
        p.internId,
        timestamp,
        p.nonce,
        p.user,
        p.method,
        p.path,
        p.bodySha256,
      ]);
    }),
    { numRuns: 2000 },
  );
});

test('two proofs have the same bytes only if they are the same proof', () => {
  fc.assert(
    fc.property(proof, proof, (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      expect(Buffer.from(signingInputV2(one)).equals(signingInputV2(other))).toBe(same);
      expect(Buffer.from(signingInputV1(one)).equals(signingInputV2(other))).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test.each<Partial<Record<keyof ProofV2, unknown>>>([
  { internId: 'int/7' },
  { timestamp: 1e12 },
  { timestamp: '1789000000' },
  { user: 'a,b' },
  { bodySha256: 'A'.repeat(64) },
  { bodySha256: 'a'.repeat(65) },
])('neither version has an input for %j', (change) => {
  const changed = { ...EXAMPLE, ...change } as ProofV2;
  expect(() => signingInputV1(changed)).toThrow(TypeError);
  expect(() => signingInputV2(changed)).toThrow(TypeError);
});

test.each<Partial<Record<keyof ProofV2, unknown>>>([
  { nonce: 'AAECAwQFBgcICQoLDA0ODx' },
  { method: 'GET' },
  { path: '/a?b' },
])('version 2 has no input for %j', (change) => {
  expect(() => signingInputV2({ ...EXAMPLE, ...change } as ProofV2)).toThrow(TypeError);
});
