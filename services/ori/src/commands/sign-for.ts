import type { Traceparent } from '@ori/http/traceparent';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { requestProof } from '../adapters/signer.ts';
import type { ProofRequest } from '../core/proof-request.ts';
import { withAccessToken } from './access.ts';
import type { Context } from './context.ts';
import { explainUnsigned } from './intern-id.ts';

/** Requests a proof. If the API does not sign for the intern, the failure says why. */
export async function signFor(
  context: Context,
  request: ProofRequest,
  trace: Traceparent,
): Promise<ProofHeaderValues> {
  const { terminal, interrupted } = context;
  const { internId } = request;
  return withAccessToken(context, (session, credential) => {
    terminal.detail(`POST ${session.base_url}/interns/${internId}/daemon/sign`);
    return requestProof(session.base_url, credential, request, { trace, signal: interrupted });
  }).catch((error) => explainUnsigned(context, internId, error));
}
