import { createSigningKey } from '#signing';
import { base64url } from '../base64.ts';
import { bodySha256 } from '../body-digest.ts';
import { KeyError } from '../errors.ts';
import { isBodySha256 } from '../fields.ts';
import { NodeBuffer } from '../node-buffer.ts';
import { admitPublicKey } from '../public-key.ts';

/** Name of the header with an answer's proof. */
export const ANSWER_PROOF = 'ori-answer-proof';

const SEED_BYTES = 32;
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** The key with which a daemon proves its answers: one for all its processes. */
export interface AnswerKey {
  /** The public key: 43 characters of base64url. */
  readonly x: string;
  /** The 64-byte Ed25519 signature over `input`. */
  sign(input: Uint8Array): Uint8Array;
}

/** What a signature over an answer covers, beside the name of its format. */
export interface ProvenAnswer {
  /** SHA-256 of the version 2 signing input of the call: 64 lower-case hex digits. */
  readonly call: string;
  readonly status: number;
  /**
   * The value of Content-Type as sent, without the white space around it, one character for each byte; empty if there is none. Several
   * lines are joined by `, ` (RFC 9110, section 5.3).
   */
  readonly mediaType: string;
  /** As sent: empty with status 204 and 304. */
  readonly body: Uint8Array | BodyFacts;
}

/** A body that was not kept whole. */
export interface BodyFacts {
  /** In bytes. */
  readonly length: number;
  /** SHA-256, 64 lower-case hex digits. */
  readonly digest: string;
}

/** The value of the header: `x`, and the signature unless the head was sent before the body was known. */
export interface AnswerProof {
  readonly x: string;
  /** 64 bytes. */
  readonly signature?: Uint8Array | undefined;
}

const MEDIA_TYPE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

/**
 * An answer key of a 32-byte seed, or of the text of a file with it: 43 characters of base64url, and a line end. Throws KeyError
 * `key_length`, `key_encoding`; its message contains nothing of the seed.
 */
export function createAnswerKey(seed: Uint8Array | string): AnswerKey {
  const bytes = typeof seed === 'string' ? base64url.decode(seed.trim(), SEED_BYTES) : seed;
  if (bytes === undefined)
    throw new KeyError('key_encoding', 'expected 32 bytes in base64url: 43 characters on one line');
  const { publicKey, sign } = createSigningKey(bytes);
  return Object.freeze({ x: base64url.encode(publicKey), sign });
}

/** The bytes that are signed. @throws {TypeError} if a field is outside its alphabet */
export function answerSigningInput({ call, status, mediaType, body }: ProvenAnswer): Uint8Array {
  if (!isBodySha256(call)) throw new TypeError('call is not 64 lower-case hex digits');
  if (!(Number.isInteger(status) && status >= 200 && status <= 999))
    throw new TypeError('status is not one of 200 to 999');
  if (!MEDIA_TYPE.test(mediaType)) throw new TypeError('mediaType is not the value of a header');
  const { length, digest } =
    body instanceof Uint8Array ? { length: body.byteLength, digest: bodySha256(body) } : body;
  if (!(Number.isSafeInteger(length) && length >= 0)) throw new TypeError('length is not a number of bytes');
  if (!isBodySha256(digest)) throw new TypeError('digest is not 64 lower-case hex digits');
  const text =
    `13:ori-answer-v1,64:${call},3:${status},${mediaType.length}:${mediaType},` +
    `${String(length).length}:${length},64:${digest},`;
  return NodeBuffer?.from(text, 'latin1') ?? Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** The value of the header `ori-answer-proof`. @throws {TypeError} if a field is outside its alphabet */
export function signAnswer(key: AnswerKey, answer: ProvenAnswer): string {
  return formatAnswerProof({ x: key.x, signature: key.sign(answerSigningInput(answer)) });
}

/**
 * Whether `signature` is over this answer by the key `x`. False for a key that no verifier would admit, and for an answer outside its
 * alphabets.
 */
export function verifyAnswer(x: string, answer: ProvenAnswer, signature: Uint8Array): boolean {
  const publicKey = base64url.decode(x, PUBLIC_KEY_BYTES);
  if (publicKey === undefined) return false;
  try {
    return admitPublicKey(publicKey).verify(answerSigningInput(answer), signature);
  } catch (error) {
    if (error instanceof KeyError || error instanceof TypeError) return false;
    throw error;
  }
}

/** The value of the header. */
export function formatAnswerProof({ x, signature }: AnswerProof): string {
  return signature === undefined ? x : `${x} ${base64url.encode(signature)}`;
}

/** Reads a header; undefined unless it is exactly a key, or a key, one space and a signature, in canonical base64url. */
export function readAnswerProof(header: string): AnswerProof | undefined {
  const [x = '', text, ...rest] = header.split(' ');
  if (rest.length > 0 || base64url.decode(x, PUBLIC_KEY_BYTES) === undefined) return undefined;
  if (text === undefined) return { x };
  const signature = base64url.decode(text, SIGNATURE_BYTES);
  return signature === undefined ? undefined : { x, signature };
}
