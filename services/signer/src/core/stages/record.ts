import type { Written } from './evidence.ts';
import type { ReservedProof } from './reserve-nonce.ts';
import { type Made, made } from './stage.ts';

/** A proof with an audit line: it may be signed. */
export interface RecordedProof extends Made<'record'> {
  readonly proof: ReservedProof;
}

/**
 * The audit line of a proof: the person, the intern and what was signed. Never a token or a signature.
 *
 * @param at when, in milliseconds since the epoch
 */
export function renderAuditLine(proof: ReservedProof, requestId: string, at: number): string {
  const { draft } = proof;
  const { entry, signingKey } = draft.key;
  const { grant, route, bodySha256 } = entry.order;
  return JSON.stringify({
    time: new Date(at).toISOString(),
    event: 'proof_issued',
    requestId,
    userId: entry.userId,
    issuer: grant.session.issuer,
    subject: grant.session.subject,
    internId: entry.internId,
    workspaceId: entry.workspaceId,
    organizationId: entry.organizationId,
    versions: draft.inputs.map(({ version }) => version),
    timestamp: draft.timestamp,
    bodySha256,
    method: route?.method,
    path: route?.path,
    nonce: draft.nonce,
    keyId: signingKey.kid,
    boundTo: grant.session.keyThumbprint,
    boundBefore: grant.session.boundBefore,
  });
}

/**
 * Requires that the audit line of this proof was written.
 *
 * @throws TypeError if the written line is not this proof's, which is a bug in the signer
 */
export function record(proof: ReservedProof, line: string, written: Written): RecordedProof {
  if (written.line !== line) throw new TypeError('the written audit line is not that of this proof');
  return made<RecordedProof>({ proof });
}
