import { expect, test } from 'vitest';
import { ANSWER_VECTORS } from '../../../../../test/vectors/read.ts';
import { bodySha256 } from '../body-digest.ts';
import { createSigningKey } from '../signing.ts';
import {
  answerSigningInput,
  createAnswerKey,
  formatAnswerProof,
  type ProvenAnswer,
  readAnswerProof,
  signAnswer,
  verifyAnswer,
} from './answer-proof.ts';
import { createSigningKey as createPortableKey } from './signing-portable.ts';

const SEED = Uint8Array.from({ length: 32 }, (_, index) => index);
const KEY = createAnswerKey(SEED);
const ANSWER: ProvenAnswer = {
  call: 'a'.repeat(64),
  status: 200,
  mediaType: 'text/plain',
  body: Uint8Array.of(1, 2, 3),
};

test.each(ANSWER_VECTORS.map((vector) => [vector.title, vector] as const))('%s', (_, vector) => {
  const { x, call, status, mediaType, seed = '', header } = vector;
  const answer = { call, status, mediaType, body: Buffer.from(vector.bodyBase64, 'base64') };
  const proof = readAnswerProof(header);
  const isProven =
    proof?.signature !== undefined && proof.x === x && verifyAnswer(x, answer, proof.signature);
  expect(isProven).toBe(vector.expect === 'proven');
  if (!isProven) return;
  expect(Buffer.from(answerSigningInput(answer)).toString('latin1')).toBe(vector.signingInput);
  expect(signAnswer(createAnswerKey(Buffer.from(seed, 'hex')), answer)).toBe(header);
});

test('a body may be given by its length and digest', () => {
  const body = Uint8Array.of(1, 2, 3);
  const facts = { length: 3, digest: bodySha256(body) };
  expect(answerSigningInput({ ...ANSWER, body: facts })).toEqual(answerSigningInput({ ...ANSWER, body }));
});

test('reads what it formats, with a signature and without', () => {
  for (const proof of [{ x: KEY.x }, { x: KEY.x, signature: KEY.sign(SEED) }])
    expect(formatAnswerProof(readAnswerProof(formatAnswerProof(proof)) ?? { x: '' })).toBe(
      formatAnswerProof(proof),
    );
});

test.each<Partial<Record<keyof ProvenAnswer, unknown>>>([
  { call: 'A'.repeat(64) },
  { status: 199 },
  { status: 1000 },
  { status: 200.5 },
  { mediaType: ' text/plain' },
  { mediaType: 'text/plain\t' },
  { mediaType: 'text/plain\r\nx: y' },
  { mediaType: 'text/\u0100' },
  { body: { length: -1, digest: 'a'.repeat(64) } },
  { body: { length: 1, digest: 'a'.repeat(63) } },
])('there are no bytes to sign for %j, and it is never proven', (change) => {
  const answer = { ...ANSWER, ...change } as ProvenAnswer;
  expect(() => answerSigningInput(answer)).toThrow(TypeError);
  expect(verifyAnswer(KEY.x, answer, KEY.sign(SEED))).toBe(false);
});

test('a key is read from the text of its file', () => {
  const text = `${Buffer.from(SEED).toString('base64url')}\n`;
  expect(createAnswerKey(text).x).toBe(KEY.x);
  for (const bad of [`${text}${text}`, text.slice(1), '', Buffer.from(SEED).toString('hex')])
    expect(() => createAnswerKey(bad)).toThrow(expect.objectContaining({ code: 'key_encoding' }));
  expect(() => createAnswerKey(SEED.subarray(1))).toThrow(expect.objectContaining({ code: 'key_length' }));
});

test('runtimes without node:crypto sign alike', () => {
  const [native, portable] = [createSigningKey(SEED), createPortableKey(SEED)];
  expect(Buffer.from(portable.publicKey).equals(native.publicKey)).toBe(true);
  expect(Buffer.from(portable.sign(SEED)).equals(native.sign(SEED))).toBe(true);
  expect(() => createPortableKey(SEED.subarray(1))).toThrow(expect.objectContaining({ code: 'key_length' }));
});
