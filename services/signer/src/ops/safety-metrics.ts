import type { EvictionWatch } from '@ori/redis/eviction';
import { weaknessesOf } from '@ori/runtime/hardening';
import { instrumentsOf, type Registry } from '@ori/runtime/instruments';

/**
 * Conditions in which a signer should not keep running, each with an alert.
 *
 * @param lifecycleWrites whether the lifecycle switch is on; queried at each scrape
 */
export function collectSafety(
  registry: Registry,
  eviction: Pick<EvictionWatch, 'isUnsafe'> | undefined,
  lifecycleWrites: () => Promise<boolean>,
): void {
  const { gauge, reading } = instrumentsOf(registry);
  reading(
    'signer_nonce_store_unsafe',
    '1 if Redis may evict turns and nonces (maxmemory-policy other than noeviction), else 0.',
    () => (eviction?.isUnsafe ? 1 : 0),
  );
  reading(
    'signer_lifecycle_switch_on',
    '1 if the lifecycle switch is on, else 0; NaN if the database does not answer.',
    () => lifecycleWrites().then(Number, () => Number.NaN),
  );
  gauge('signer_hardened', '1 if the process runs under its permission flags, else 0.').set(
    weaknessesOf(process).length === 0 ? 1 : 0,
  );
}
