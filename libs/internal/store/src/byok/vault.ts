import { credentialContext, type KekRing, seal } from '../sealing.ts';

/** Seals provider keys, each bound to its row: copied to another row, it does not open. */
export interface CredentialVault {
  seal(credential: { readonly id: string; readonly organization_id: string }, key: string): Promise<string>;
}

export function createCredentialVault(ring: KekRing): CredentialVault {
  return {
    seal: (credential, key) => seal(ring, new TextEncoder().encode(key), credentialContext(credential)),
  };
}
