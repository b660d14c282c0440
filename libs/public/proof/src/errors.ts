/** Why a proof or its request was refused: answered with 401 (404 and 413 for the last two) by adapters. */
export type ProofErrorCode =
  | 'proof_missing'
  | 'proof_malformed'
  | 'proof_version_not_accepted'
  | 'request_not_coverable'
  | 'proof_expired'
  | 'proof_not_yet_valid'
  | 'key_unknown'
  | 'signature_invalid'
  | 'nonce_replayed'
  | 'nonce_not_issued'
  | 'proof_before_fence'
  | 'answers_not_kept'
  | 'body_too_large';

/** Why a proof could not be judged: answered with 503 by adapters. */
export type UnavailableErrorCode =
  | 'keys_unavailable'
  | 'replay_store_unavailable'
  | 'replay_store_unsafe'
  | 'replay_store_full';

/** The properties of a ProofError besides its code and message. */
export interface ProofErrorOptions {
  cause?: unknown;
  /** Whole seconds after which a newly signed proof can be accepted; with `proof_before_fence` only. */
  retryAfterSeconds?: number;
}

/**
 * The base class of all errors with a code. The message is for the log: it names the likely cause, and contains nothing from a
 * request.
 */
export class OriError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A proof or its request was refused. */
export class ProofError extends OriError<ProofErrorCode> {
  override readonly name = 'ProofError';
  readonly retryAfterSeconds?: number;

  constructor(
    code: ProofErrorCode,
    message: string,
    { retryAfterSeconds, ...options }: ProofErrorOptions = {},
  ) {
    super(code, explained(code, message), options);
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The proof could not be judged, because the keys or the replay store failed. */
export class UnavailableError extends OriError<UnavailableErrorCode> {
  override readonly name = 'UnavailableError';

  constructor(code: UnavailableErrorCode, message: string, options?: ErrorOptions) {
    super(code, explained(code, message), options);
  }
}

/** Appends a reference to the README section on the code, which is installed with the package. */
function explained(code: string, message: string): string {
  return `${message} (see @ori/verifier/README.md#${code})`;
}

/** Why a key or a key set was rejected. */
export type KeyErrorCode =
  | 'key_length'
  | 'key_not_canonical'
  | 'key_not_on_curve'
  | 'key_small_order'
  | 'key_not_torsion_free'
  | 'key_encoding'
  | 'key_id_mismatch'
  | 'key_interval'
  | 'key_repeated'
  | 'key_private_part'
  | 'key_set_malformed'
  | 'key_set_too_large'
  | 'key_pair_mismatch'
  | 'key_set_unstated'
  | 'key_set_role_missing'
  | 'key_set_signature_invalid'
  | 'key_set_ahead'
  | 'key_set_frozen'
  | 'key_set_rolled_back'
  | 'key_unstated';

/** A key was not admitted, a key set could not be read, or a signing key does not belong to its published half. */
export class KeyError extends OriError<KeyErrorCode> {
  override readonly name = 'KeyError';
}
