import { credentialContext } from '../sealing/credential-context.ts';
import type { KekRing } from '../sealing/kek-ring.ts';
import { seal } from '../sealing/seal.ts';

/** Seals provider keys, each bound to its row: copied to another row, it does not open. */
export interface CredentialVault {
  seal(credential: { readonly id: string; readonly organization_id: string }, key: string): Promise<string>;
}

export function createCredentialVault(ring: KekRing): CredentialVault {
  return {
    seal: (credential, key) => seal(ring, new TextEncoder().encode(key), credentialContext(credential)),
  };
}
