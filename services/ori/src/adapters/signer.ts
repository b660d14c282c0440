import type { Traceparent } from '@ori/http/traceparent';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { CliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { isOfNow, type ProofRequest, readProof, signingBody } from '../core/proof-request.ts';
import { type Credential, requestApi, TokenRefused } from './api.ts';

export interface SigningContext {
  readonly trace: Traceparent;
  readonly signal: AbortSignal;
  readonly nowSeconds: () => number;
}

/**
 * Requests a proof for a digest; the body is never sent to the signer. Throws TokenRefused on 401, otherwise the
 * CliError of the refusal, or `answer_not_understood` if the answer is not a proof, or not of now. Whose it is, the caller judges.
 */
export async function requestProof(
  baseUrl: string,
  credential: Credential,
  request: ProofRequest,
  { trace, signal, nowSeconds }: SigningContext,
): Promise<ProofHeaderValues> {
  const url = `${baseUrl}/interns/${request.internId}/daemon/sign`;
  const body = signingBody(request);
  const answer = await requestApi(url, { method: 'POST', credential, body, trace }, signal);
  if (answer.status === 401) throw new TokenRefused(answer);
  if (answer.status !== 200) {
    const { refusalToSign } = await import('../core/refusal.ts');
    throw refusalToSign(answer, request.internId);
  }
  const proof = readProof(parseJson(answer.body));
  if (proof === undefined || !isOfNow(proof, answer, nowSeconds())) {
    const why =
      proof === undefined ? 'it is not a proof for this request' : 'the time of the proof is not now';
    throw new CliError('answer_not_understood', { what: 'the API', address: baseUrl, why });
  }
  return proof;
}
