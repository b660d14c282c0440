import { expect, test } from 'vitest';
import { createSignerMetrics } from './signer-metrics.ts';

test('counts each cache lookup once, however often the metrics are read', async () => {
  const metrics = createSignerMetrics([], []);
  const lookups = async () =>
    (await metrics.http.registry.metrics()).match(/^signer_cache_lookups_total\{.*$/gm)?.sort();
  metrics.lookedUp('gate', true);
  metrics.lookedUp('gate', true);
  metrics.lookedUp('tokens', false);
  await lookups();
  expect(await lookups()).toEqual([
    'signer_cache_lookups_total{cache="gate",result="hit"} 2',
    'signer_cache_lookups_total{cache="gate",result="miss"} 0',
    'signer_cache_lookups_total{cache="keys",result="hit"} 0',
    'signer_cache_lookups_total{cache="keys",result="miss"} 0',
    'signer_cache_lookups_total{cache="tokens",result="hit"} 0',
    'signer_cache_lookups_total{cache="tokens",result="miss"} 1',
  ]);
  metrics.http.close();
});
