import { credentialContext } from '@ori/sealing/credential-context';
import type { KekRing } from '@ori/sealing/kek-ring';
import { seal } from '@ori/sealing/seal';

/** Seals a provider key to its row: copied to another row, it does not open. */
export function sealProviderKey(
  ring: KekRing,
  credential: { readonly id: string; readonly organization_id: string },
  key: string,
): Promise<string> {
  return seal(ring, new TextEncoder().encode(key), credentialContext(credential));
}
