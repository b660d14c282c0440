import {
  holdsTimestamp,
  newestSignature,
  PROOF_METHOD,
  type PresentedProof,
  type ProofHeaderValues,
  parseProofHeaders,
  signingInput,
  type VerificationKey,
} from '@ori/proof';
import { CliError } from './errors.ts';
import type { ProofRequest } from './proof-request.ts';

/** A call with the bytes that its proof signs. */
export interface SignedCall {
  /** Unix seconds. */
  readonly timestamp: number;
  readonly signingInput: Uint8Array;
  readonly signature: Uint8Array;
}

/** Throws CliError `usage` for a proof of version 1, which only its daemon can check. */
export function signedCall(request: ProofRequest, presented: PresentedProof): SignedCall {
  const { version, nonce, signature } = newestSignature(presented);
  if (nonce === undefined)
    throw new CliError('usage', {
      detail: 'These are the headers of a version 1 proof: only its daemon can check it.',
    });
  const { timestamp, user } = presented;
  const input = signingInput(version, { ...request, method: PROOF_METHOD, timestamp, user, nonce });
  return { timestamp, signature, signingInput: input };
}

/** The call of a proof that the signer gave. */
export function callOf(request: ProofRequest, proof: ProofHeaderValues): SignedCall {
  return signedCall(request, parseProofHeaders(Object.entries(proof).flat()));
}

/** Whether a key of the intern signed exactly this call; undefined if there is none for its time. */
export function isSignedBy(keys: readonly VerificationKey[], call: SignedCall): boolean | undefined {
  const ofItsTime = keys.filter((key) => holdsTimestamp(key, call.timestamp));
  if (ofItsTime.length === 0) return undefined;
  return ofItsTime.some((key) => key.verify(call.signingInput, call.signature));
}
