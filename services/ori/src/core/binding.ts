import { CliError } from './errors.ts';

/** The algorithm of `ori`'s DPoP proofs, which every issuer with DPoP supports. */
export const PROOF_ALGORITHM = 'ES256';

export interface BindingFacts {
  readonly issuer: string;
  /** `dpop_signing_alg_values_supported` of the issuer's own metadata (RFC 9449, section 5.1). */
  readonly algorithms: readonly string[] | undefined;
  /** The API says that it accepts no other session (RFC 9728, section 2). */
  readonly isDemanded: boolean;
  /** The profile's last session at this API was bound. */
  readonly wasBound: boolean;
  /** The person chose an unbound session. */
  readonly unbound: boolean;
}

/**
 * Whether to bind the new session to a key: wherever the issuer does so, unless the person chose otherwise. What the
 * API says about itself cannot unbind a session, because servers in between can change it.
 *
 * @throws CliError `binding_not_offered` where the issuer does not offer what the API demands, or what the profile had
 */
export function chooseBinding(facts: BindingFacts): 'bound' | 'chosen' | 'not offered' {
  if (facts.unbound) return 'chosen';
  if (facts.algorithms?.includes(PROOF_ALGORITHM)) return 'bound';
  const { issuer, isDemanded, wasBound } = facts;
  if (isDemanded || wasBound) throw new CliError('binding_not_offered', { issuer, isDemanded });
  return 'not offered';
}
