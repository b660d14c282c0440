import { weaknessesOf } from '@ori/runtime/hardening';
import { instrumentsOf, type Registry } from '@ori/runtime/instruments';
import type { EvictionWatch } from '@ori/turns/redis/eviction';

/** Unsafe conditions of the signer, both with alerts. */
export function collectSafety(
  registry: Registry,
  eviction: Pick<EvictionWatch, 'isUnsafe'> | undefined,
): void {
  const { gauge, reading } = instrumentsOf(registry);
  reading(
    'signer_nonce_store_unsafe',
    'Whether Redis may forget turns and nonces (maxmemory-policy other than noeviction): 1 or 0.',
    () => (eviction?.isUnsafe ? 1 : 0),
  );
  gauge('signer_hardened', 'Whether the process runs under its permission flags: 1 or 0.').set(
    weaknessesOf(process).length === 0 ? 1 : 0,
  );
}
