import { createHash, createHmac } from 'node:crypto';
import { signingInput } from '@ori/proof';
import { describe, expect, it } from 'vitest';
import {
  commitmentOf,
  commitmentOfIntern,
  commitmentsIn,
  type Entry,
  entryOfLine,
  hasCommitment,
  NO_COMMITMENT,
  parseEntry,
  renderEntry,
} from './entry.ts';

const sha256 = (input: string | Uint8Array) => createHash('sha256').update(input).digest();
const [first, second, third] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill)) as [Buffer, Buffer, Buffer];
const v1Key = Buffer.alloc(32, 7);
const request = { internId: 'int_1', path: '/api/invoke', bodySha256: 'ab'.repeat(32) };
const fields = { ...request, timestamp: 1_789_000_000, user: 'ada' };
const nonce = Buffer.alloc(16, 4).toString('base64url');
const FACTS = {
  event: 'proof_issued',
  internId: 'int_1',
  timestamp: fields.timestamp,
  subject: 'ada',
  bodySha256: request.bodySha256,
  method: 'POST',
  path: request.path,
  nonce,
};
const ofV2 = sha256(signingInput(2, { ...fields, nonce, method: 'POST' }));
const ofV1 = createHmac('sha256', v1Key)
  .update(sha256(signingInput(1, fields)))
  .digest();
const judge = (facts: unknown, v1KeyOf?: (internId: string) => Uint8Array) =>
  entryOfLine(Buffer.from(JSON.stringify(facts)), v1KeyOf);

describe('the line of a proof becomes an entry of kind 1', () => {
  it('with the commitments of both versions, and the hash of the line', () => {
    const keyOf = (internId: string) => (internId === 'int_1' ? v1Key : first);
    const line = sha256(JSON.stringify(FACTS));
    expect(judge(FACTS, keyOf)).toEqual({ kind: 'proof', of: 'proof', v2: ofV2, v1: ofV1, line });
  });
  it.each([
    ['a nonce', { nonce: undefined }],
    ['a path', { path: undefined }],
    ['a method', { method: undefined }],
    ['a method that proofs have', { method: 'GET' }],
  ])('with that of version 1 alone if it has not %s', (_what, change) => {
    const made = judge({ ...FACTS, ...change }, () => v1Key);
    expect(made).toMatchObject({ of: 'proof', v2: NO_COMMITMENT, v1: ofV1 });
  });
  it('with that of version 2 alone if there is no key for version 1', () => {
    expect(judge(FACTS)).toMatchObject({ of: 'proof', v2: ofV2, v1: NO_COMMITMENT });
  });
});

it.each([
  null,
  5,
  'x',
  [],
  {},
  { ...FACTS, event: 'other' },
  { event: 'key_retired', internId: 'int_1', x: first.toString('base64url') },
  { ...FACTS, user: 'a', subject: 'a\nb' },
])('the line %j is committed to, and is of no proof or key', (facts) => {
  const line = sha256(JSON.stringify(facts));
  const nothing = { kind: 'proof', of: 'nothing', v2: NO_COMMITMENT, v1: NO_COMMITMENT, line };
  expect(judge(facts, () => v1Key)).toEqual(nothing);
});

it('a single-use proof has, as a daemon sees it, the commitment of its line; one of version 1 has none', () => {
  const v1 = { signature: Buffer.alloc(64) };
  const presented = { timestamp: fields.timestamp, user: fields.user, v1 };
  expect(commitmentOf({ ...presented, v2: { ...v1, nonce } }, request)).toEqual(ofV2);
  expect(commitmentOf(presented, request)).toBeUndefined();
});

describe('an entry', () => {
  const proof: Entry = { kind: 'proof', v2: first, v1: second, line: third };
  const key: Entry = { kind: 'key', publicKey: first, intern: second, line: third };
  it.each([
    [1, proof],
    [2, key],
  ])('of kind %d is that byte and three values of 32', (kind, entry) => {
    const bytes = Buffer.concat([Uint8Array.of(kind), first, second, third]);
    expect(Buffer.from(renderEntry(entry))).toEqual(bytes);
    expect(parseEntry(bytes)).toEqual(entry);
    for (const wrong of [bytes.subarray(0, 96), Buffer.concat([bytes, first]), Buffer.of()])
      expect(() => parseEntry(wrong)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
  it('is found by the commitments of its proof, and that of a key by none', () => {
    expect(commitmentsIn(proof)).toEqual([second, first]);
    expect(commitmentsIn(key)).toEqual([NO_COMMITMENT, NO_COMMITMENT]);
    expect([first, second, third].map((one) => hasCommitment(proof, one))).toEqual([true, true, false]);
    for (const one of [first, second, NO_COMMITMENT]) expect(hasCommitment(key, one)).toBe(false);
  });
  it('names an intern by a hash of its id', () => {
    expect(commitmentOfIntern('int_1')).toEqual(sha256('ori signing log: keys of int_1'));
  });
});
