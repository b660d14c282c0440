import { ProofError, UnavailableError } from '@ori/proof/wire';

/** A store's answer to a spend. */
export interface Verdict {
  readonly verdict: string;
  /** The reason why the server is unsafe. */
  readonly detail?: string;
  readonly retryAfterSeconds?: number;
}

/** Throws UnavailableError `replay_store_unsafe`. */
export function requireSafe({ verdict, detail }: Verdict): void {
  if (verdict === 'unsafe')
    throw new UnavailableError('replay_store_unsafe', detail ?? 'the server is not safe');
}

/** Returns for `spent`; throws the error of any other verdict. */
export function requireSpent(said: Verdict): 'spent' {
  requireSafe(said);
  switch (said.verdict) {
    case 'spent':
      return 'spent';
    case 'replayed':
      throw new ProofError('nonce_replayed', 'the proof was spent before');
    case 'not_issued':
      throw new ProofError('nonce_not_issued', 'the signer did not reserve this nonce for this proof');
    case 'expired':
      throw new ProofError('proof_expired', 'the proof is older than what the store remembers');
    case 'not_yet_valid':
      throw new ProofError(
        'proof_not_yet_valid',
        "the timestamp is ahead of the store's clock: check the clocks",
      );
    case 'before_fence':
      throw new ProofError('proof_before_fence', 'the proof was issued before the store could remember it', {
        retryAfterSeconds: said.retryAfterSeconds ?? 1,
      });
    default:
      throw new UnavailableError('replay_store_unavailable', 'unexpected answer of the store');
  }
}
