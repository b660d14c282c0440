import { createNonce } from '@ori/proof/signing';
import { createExpiringSet } from '@ori/runtime/expiring-set';
import { issuedKey } from '@ori/verifier/redis/reservation';
import { DependencyError } from '../core/dependency-error.ts';
import type { Nonces } from './nonces.ts';

/** Reserves in this process only, for a single signer without Redis. */
export function memoryNonces(keptSeconds: number, now?: () => number): Nonces {
  const reserved = createExpiringSet(keptSeconds * 1000, now);
  return {
    draw: createNonce,
    async reserve({ internId, nonce }) {
      try {
        return reserved.add(issuedKey(internId, nonce));
      } catch (cause) {
        throw new DependencyError('redis', 'the nonce could not be reserved', { cause });
      }
    },
  };
}
