import type { SealContext } from './seal.ts';

/** The deployment that a seed belongs to: a copy of the row does not open in another one. */
export interface SeedHome {
  /** The OpenID issuer, exactly as the signer is configured with it. */
  readonly issuer: string;
  /** The public base address, ending in its version segment. */
  readonly baseUrl: string;
}

/** The context that the seed of a row of `signing_keys` is sealed to. */
export function seedContext(key: { id: string; internId: string }, home: SeedHome): SealContext {
  return {
    table: 'signing_keys',
    column: 'sealed_seed',
    row: key.id,
    internId: key.internId,
    issuer: home.issuer,
    baseUrl: home.baseUrl,
  };
}
