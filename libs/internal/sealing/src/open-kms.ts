import type { KeyWrapper } from './key-wrapper.ts';
import type { TransitConfig } from './kms-address.ts';

/** What the engine or agent at that address wraps and unwraps. @throws TypeError for an invalid address */
export async function openKms(config: TransitConfig): Promise<KeyWrapper> {
  return (await import('./kms/transit.ts')).createTransit(config);
}
