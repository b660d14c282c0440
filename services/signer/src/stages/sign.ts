import { type ProofHeaderValues, renderProofHeaders } from '@ori/proof';
import type { RecordedProof } from './record.ts';

/** The interface's signing response: its keys are header names. */
export type SignedProof = ProofHeaderValues;

/** Last stage: signs, and decides nothing. */
export function sign(recorded: RecordedProof): SignedProof {
  const { draft } = recorded.proof;
  const { entry, signingKey } = draft.key;
  return renderProofHeaders({
    timestamp: draft.timestamp,
    user: entry.order.grant.session.subject,
    signatureV1: signingKey.sign(draft.inputV1),
    ...(draft.v2 && { v2: { signature: signingKey.sign(draft.v2.input), nonce: draft.v2.nonce } }),
  });
}
