import { type AnswerKey, signAnswer } from '@ori/proof/answer-proof';
import { createBodyDigest } from '@ori/proof/wire';

/** Proves the answer to one call. */
export interface Prover {
  readonly key: AnswerKey;
  /** SHA-256 of the signing input of the call. */
  readonly call: string;
}

/** A body, or what is known of one. */
type Body = Parameters<typeof signAnswer>[1]['body'];
type Headers = Readonly<Record<string, string>>;

/** The value of `ori-answer-proof`; undefined for what no signature covers, such as an upgrade. */
export function proofOf(
  { key, call }: Prover,
  status: number,
  headers: Headers,
  body: Body,
): string | undefined {
  // White space around a value is no part of it (RFC 9110, section 5.5).
  const mediaType = (headers['content-type'] ?? '').replace(/^[\t ]+|[\t ]+$/g, '');
  try {
    return signAnswer(key, { call, status, mediaType, body });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Has no body, whatever is written. */
export const isBodiless = (status: number): boolean => status === 204 || status === 304;

/** The body of an answer whose head was sent before it. */
export class Pieces {
  /** From the first piece on: most answers have none. */
  #sha256: ReturnType<typeof createBodyDigest> | undefined;
  length = 0;

  add(chunk: Uint8Array): void {
    this.#sha256 ??= createBodyDigest();
    this.#sha256.update(chunk);
    this.length += chunk.byteLength;
  }

  end(): Body {
    return { length: this.length, digest: (this.#sha256 ?? createBodyDigest()).hex() };
  }
}
