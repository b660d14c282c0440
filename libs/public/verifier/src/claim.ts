import { signingInput } from '@ori/proof/signing-input';
import type { VerificationKey } from '@ori/proof/verification-key';
import { newestSignature, PROOF_METHOD, type PresentedProof, ProofError } from '@ori/proof/wire';
import { candidatesAt, type KeySet } from './keys/key-set.ts';

/**
 * What the signature must cover: the verifier's own values, and those that only the request contains. `path` is the target of the
 * request itself, `bodySha256` the digest of the bytes received.
 */
export function toClaim(presented: PresentedProof, internId: string, path: string, bodySha256: string) {
  const { timestamp, user } = presented;
  const newest = newestSignature(presented);
  const named = { internId, timestamp, user, bodySha256, ...newest };
  return { ...named, signingInput: signingInput(newest.version, { ...named, method: PROOF_METHOD, path }) };
}

export type Claim = ReturnType<typeof toClaim>;

/** Throws ProofError `key_unknown`, `signature_invalid`; UnavailableError `keys_unavailable`. */
export async function requireSignature(claim: Claim, keySet: KeySet): Promise<void> {
  const known = await keySet.current();
  if (isSigned(claim, known)) return;
  const newer = await keySet.renew?.();
  if (newer !== undefined && newer !== known && isSigned(claim, newer)) return;
  throw candidatesAt(newer ?? known, claim.timestamp).length === 0
    ? new ProofError(
        'key_unknown',
        'no published key is valid at the time of this proof: check the intern id in the URL of the keys',
      )
    : new ProofError(
        'signature_invalid',
        'no published key signed this request: check for a proxy that rewrites its path or body, and check the intern id',
      );
}

function isSigned({ timestamp, signingInput, signature }: Claim, keys: readonly VerificationKey[]): boolean {
  return candidatesAt(keys, timestamp).some((key) => key.verify(signingInput, signature));
}
