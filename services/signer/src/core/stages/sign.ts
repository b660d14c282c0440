import { renderProof } from '@ori/proof/headers';
import type { ProofHeaderValues } from '@ori/proof/versions';
import type { RecordedProof } from './record.ts';

/** The interface's signing response: its keys are header names. */
export type SignedProof = ProofHeaderValues;

/** Signs. Never refuses. */
export function sign(recorded: RecordedProof): SignedProof {
  const { draft } = recorded.proof;
  const { entry, signingKey } = draft.key;
  return renderProof({
    timestamp: draft.timestamp,
    user: entry.order.grant.session.subject,
    nonce: draft.nonce,
    signatures: draft.inputs.map(({ version, input }) => ({ version, signature: signingKey.sign(input) })),
  });
}
