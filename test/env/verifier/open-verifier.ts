import { createLocalKeySet } from '../../../libs/public/verifier/src/keys/local.ts';
import type { ProofReport } from '../../../libs/public/verifier/src/outcome.ts';
import type { VerifierOptions } from '../../../libs/public/verifier/src/policy.ts';
import {
  createTestReplayStore,
  createTestSigner,
} from '../../../libs/public/verifier/src/testing/testing.ts';
import { createVerifier } from '../../../libs/public/verifier/src/verifier.ts';

/** A new signer, a verifier of its proofs whose store is past its fence, and what the verifier reports. */
export function openVerifier(options: Partial<VerifierOptions> = {}) {
  const signer = createTestSigner({ internId: 'int_1' });
  const reports: ProofReport[] = [];
  const verifier = createVerifier({
    internId: 'int_1',
    keys: createLocalKeySet(signer.jwks),
    replay: createTestReplayStore(),
    onOutcome: (report) => void reports.push(report),
    ...options,
  });
  return { signer, verifier, reports };
}
