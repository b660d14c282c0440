import type { EvictionWatch } from '@ori/redis/eviction';
import { weaknessesOf } from '@ori/runtime/hardening';
import { Gauge, type Registry } from 'prom-client';

/** Unsafe conditions of the signer, both with alerts. */
export function collectSafety(
  registry: Registry,
  eviction: Pick<EvictionWatch, 'isUnsafe'> | undefined,
): void {
  const registers = [registry];
  new Gauge({
    name: 'signer_nonce_store_unsafe',
    help: 'Whether Redis may forget turns and nonces (maxmemory-policy other than noeviction): 1 or 0.',
    registers,
    collect() {
      this.set(eviction?.isUnsafe ? 1 : 0);
    },
  });
  new Gauge({
    name: 'signer_hardened',
    help: 'Whether the process runs under its permission flags: 1 or 0.',
    registers,
  }).set(weaknessesOf(process).length === 0 ? 1 : 0);
}
