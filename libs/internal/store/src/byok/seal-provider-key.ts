import { credentialContext } from '../sealing/credential-context.ts';
import type { KekRing } from '../sealing/kek-ring.ts';
import { seal } from '../sealing/seal.ts';

/** Seals a provider key to its row: copied to another row, it does not open. */
export function sealProviderKey(
  ring: KekRing,
  credential: { readonly id: string; readonly organization_id: string },
  key: string,
): Promise<string> {
  return seal(ring, new TextEncoder().encode(key), credentialContext(credential));
}
