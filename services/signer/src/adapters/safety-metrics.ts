import { weaknessesOf } from '@ori/runtime/hardening';
import { instrumentsOf, type Registry } from '@ori/runtime/instruments';
import type { EvictionWatch } from '@ori/turns/redis/eviction';

/**
 * Conditions in which a signer should not be left, each with an alert.
 *
 * @param lifecycleWrites whether the lifecycle switch is on; asked at each scrape
 */
export function collectSafety(
  registry: Registry,
  eviction: Pick<EvictionWatch, 'isUnsafe'> | undefined,
  lifecycleWrites: () => Promise<boolean>,
): void {
  const { gauge, reading } = instrumentsOf(registry);
  reading(
    'signer_nonce_store_unsafe',
    'Whether Redis may forget turns and nonces (maxmemory-policy other than noeviction): 1 or 0.',
    () => (eviction?.isUnsafe ? 1 : 0),
  );
  reading(
    'signer_lifecycle_switch_on',
    'Whether the lifecycle switch is on: 1 or 0; NaN if the database does not answer.',
    () => lifecycleWrites().then(Number, () => Number.NaN),
  );
  gauge('signer_hardened', 'Whether the process runs under its permission flags: 1 or 0.').set(
    weaknessesOf(process).length === 0 ? 1 : 0,
  );
}
