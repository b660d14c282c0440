import { CliError } from './errors.ts';

/** The API's support for sessions bound to a key (RFC 9728, section 2). */
export interface BindingOffered {
  readonly algorithms?: readonly string[] | undefined;
  readonly required?: boolean | undefined;
}

/** The algorithm of `ori`'s DPoP proofs, which every issuer with DPoP supports. */
export const PROOF_ALGORITHM = 'ES256';

/**
 * Whether to bind the new session to a key: only where the issuer and the API both offer DPoP.
 *
 * @throws CliError `binding_not_offered` where the API demands what the issuer does not offer
 */
export function chooseBinding(
  api: BindingOffered,
  issuerAlgorithms: readonly string[] | undefined,
  issuer: string,
): 'bound' | 'issuer lacks it' | 'API lacks it' {
  if (!issuerAlgorithms?.includes(PROOF_ALGORITHM)) {
    if (api.required) throw new CliError('binding_not_offered', { issuer });
    return 'issuer lacks it';
  }
  return api.algorithms?.includes(PROOF_ALGORITHM) ? 'bound' : 'API lacks it';
}
