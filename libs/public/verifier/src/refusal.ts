import {
  ProofError,
  type ProofErrorCode,
  UnavailableError,
  type UnavailableErrorCode,
} from '@ori/proof/wire';

type Code = ProofErrorCode | UnavailableErrorCode;

/** The answer to a request whose proof was not accepted. */
export interface Refusal extends Answer {
  readonly status: 401 | 404 | 413 | 503;
  readonly body: string;
}

/** The status, headers and JSON body of an answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** JSON, `{"error":{"code":…,"message":…}}`; or the bytes of a kept answer. */
  readonly body: string | Uint8Array;
}

/** An error as an answer, which no cache may keep. */
export const errorAnswer = <Status extends number>(
  status: Status,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
) => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify({ error: { code, message } }),
});

/** The adapters' answer to a mistake in the daemon's own code. */
export const INTERNAL_ERROR = errorAnswer(500, 'internal_error', 'The request could not be verified.');

/** The adapters' answer to a truncated body. */
export const BODY_INCOMPLETE = errorAnswer(400, 'body_incomplete', 'The body is incomplete.');

/** The public messages. They contain nothing from the request and reveal nothing about the daemon. */
export const SENTENCES = {
  proof_missing: [401, 'A proof header is missing. Send all headers that the signer returned.'],
  proof_malformed: [401, 'The proof headers are malformed or incomplete.'],
  proof_version_not_accepted: [401, 'A version 2 proof is required.'],
  request_not_coverable: [
    401,
    'A proof cannot cover this method, path, query, media type or content coding.',
  ],
  proof_expired: [401, 'The proof is too old.'],
  proof_not_yet_valid: [401, 'The timestamp of the proof is in the future.'],
  key_unknown: [401, 'No published key is valid at the time of this proof.'],
  signature_invalid: [401, 'The proof is not for this request.'],
  nonce_replayed: [401, 'The proof was used before.'],
  nonce_not_issued: [401, 'The nonce of the proof was not issued.'],
  proof_before_fence: [
    401,
    'The proof was issued before the replay store was ready. Sign again after the time in Retry-After.',
  ],
  answers_not_kept: [404, 'This daemon keeps no answers. The call may have been carried out.'],
  body_too_large: [413, 'The body is too large.'],
  keys_unavailable: [503, 'The proof cannot be verified now: no keys.'],
  replay_store_unavailable: [503, 'The proof cannot be verified now: the replay store does not answer.'],
  replay_store_unsafe: [503, 'The proof cannot be verified now: the replay store is not in a safe state.'],
  replay_store_full: [503, 'The proof cannot be verified now: the replay store is full.'],
} as const satisfies Record<Code, readonly [status: 401 | 404 | 413 | 503, sentence: string]>;

export const REFUSAL_CODES = Object.keys(SENTENCES) as readonly Code[];

/**
 * The answer to a request whose verification threw; undefined for an error that is neither a ProofError nor an
 * UnavailableError.
 */
export function toRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof ProofError || error instanceof UnavailableError)) return undefined;
  const [status, message] = SENTENCES[error.code];
  const pause = error instanceof ProofError ? error.retryAfterSeconds : undefined;
  return errorAnswer(status, error.code, message, {
    ...(status === 401 && { 'www-authenticate': 'Ori-Proof' }),
    ...(pause !== undefined && { 'retry-after': String(pause) }),
  });
}
