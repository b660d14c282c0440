import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../conformance/protocol.ts';

/** A request to a signer and its answer (SPEC.md, sections 1 to 3 and 7). */
export interface SigningVector {
  title: string;
  sentences: string[];
  /** Ed25519 seed, 32 bytes in hex. */
  seed: string;
  internId: string;
  /** The `sub` of the access token. */
  subject: string;
  /** The signer's clock, Unix seconds. */
  now: number;
  /** The output of its random source, in base64url. */
  nonce: string;
  /** The body of the signing request. */
  requestBase64: string;
  expect: 'ok' | 'invalid_body' | 'no_proof';
  signingInputV1?: string;
  signingInputV2?: string;
  /** The answer. */
  headers?: Record<string, string>;
}

/** Answers of one key set URL, in order, to a verifier that pins roots (ROOTED-KEY-SETS.md). */
export interface RootedSetVector {
  title: string;
  sentences: string[];
  baseUrl: string;
  internId: string;
  /** The pinned roots, as JWKs. */
  roots: Record<string, unknown>[];
  answers: RootedAnswer[];
}

interface RootedAnswer {
  /** The document; absent with status 304. */
  bodyBase64?: string;
  /** The value of `x-ori-key-set`, unless the header is absent. */
  statement?: string;
  /** The verifier's clock, Unix milliseconds. */
  now: number;
  /** `ok` or the code of the refusal. */
  expect: string;
  /** Another acceptable code: why the key is not admitted. */
  or?: string;
  /** From when on the set may not be used, Unix milliseconds; only with `ok`. */
  until?: number;
  /** What a client knows of the keys that prove answers: each `x`, or the code of the refusal. */
  answerKeys?: string[] | string;
  /** From when on it may not use them, if that is earlier. */
  answerKeysUntil?: number;
}

/** An answer as a client received it. */
export interface AnswerVector {
  title: string;
  sentences: string[];
  /** Of the key that signed, 32 bytes in hex; only with `proven`. */
  seed?: string;
  /** The key that the client knows. */
  x: string;
  /** SHA-256 of the signing input of the call. */
  call: string;
  status: number;
  /** One character for each byte. */
  mediaType: string;
  bodyBase64: string;
  /** Only with `proven`; one character for each byte. */
  signingInput?: string;
  /** The value of `ori-answer-proof`. */
  header: string;
  expect: 'proven' | 'unproven';
}

/** The text of a file of this folder. */
export const textOf = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

export const SCENARIOS: readonly Scenario[] = JSON.parse(textOf('verdicts.json')).scenarios;
export const SIGNING_VECTORS: readonly SigningVector[] = JSON.parse(textOf('signing.json')).cases;
export const ROOTED_SETS: readonly RootedSetVector[] = JSON.parse(textOf('rooted-sets.json')).sets;
export const ANSWER_VECTORS: readonly AnswerVector[] = JSON.parse(textOf('answer-proofs.json')).answers;
