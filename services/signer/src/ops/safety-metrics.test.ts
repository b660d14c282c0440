import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { collectSafety } from './safety-metrics.ts';

async function collected(eviction: { isUnsafe: boolean } | undefined, switched: () => Promise<boolean>) {
  const registry = new Registry();
  collectSafety(registry, eviction, switched);
  return (await registry.metrics()).split('\n').filter((line) => /^signer_/.test(line));
}

test.each<[{ isUnsafe: boolean } | undefined, () => Promise<boolean>, number, string]>([
  [undefined, async () => false, 0, '0'],
  [{ isUnsafe: false }, async () => true, 0, '1'],
  [{ isUnsafe: true }, () => Promise.reject(new Error('no answer')), 1, 'Nan'],
])('shows whether Redis evicts and the switch is on: %j', async (eviction, switched, unsafe, on) => {
  expect(await collected(eviction, switched)).toEqual([
    `signer_nonce_store_unsafe ${unsafe}`,
    `signer_lifecycle_switch_on ${on}`,
    // This process has no permission flags.
    'signer_hardened 0',
  ]);
});
