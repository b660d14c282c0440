import { expect, test } from 'vitest';
import { createSignerMetrics } from './signer-metrics.ts';

test('counts each cache lookup once, however often the metrics are read', async () => {
  const metrics = createSignerMetrics([], [], []);
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

test('has every series from the start, and counts each event in its own', async () => {
  const metrics = createSignerMetrics(
    ['/sign'],
    ['refused', 'busy'],
    ['https://one.test', 'https://two.test'],
  );
  const counters = async () =>
    (await metrics.http.registry.metrics())
      .split('\n')
      .filter((line) => /^signer_.*_total/.test(line) && !line.includes('cache_lookups'))
      .map((line) => line.replace(/^signer_/, ''));
  const atStart = await counters();
  expect(atStart).toEqual([
    ...['v1', 'v2'].flatMap((version) =>
      ['true', 'false'].map((bound) => `proofs_issued_total{version="${version}",bound="${bound}"} 0`),
    ),
    ...['refused', 'busy'].map((reason) => `refusals_total{reason="${reason}"} 0`),
    ...['redis', 'postgresql', 'issuer', 'audit', 'clock'].map(
      (dependency) => `dependency_failures_total{dependency="${dependency}"} 0`,
    ),
    ...['nonces_taken', 'signing_keys_unusable', 'tokens_without_auth_time'].map((name) => `${name}_total 0`),
    ...['one', 'two'].map((name) => `tokens_unbound_total{issuer="https://${name}.test"} 0`),
    'bindings_lost_total 0',
  ]);
  metrics.proofIssued(2, true);
  metrics.refused('busy');
  metrics.dependencyFailed('audit');
  metrics.nonceTaken();
  metrics.signingKeyUnusable();
  metrics.tokenVerified(true);
  metrics.tokenVerified(true);
  metrics.tokenVerified(false);
  metrics.tokenUnbound('https://two.test');
  metrics.bindingLost();
  const counted = (await counters()).filter((line) => !atStart.includes(line));
  expect(counted).toEqual([
    'proofs_issued_total{version="v2",bound="true"} 1',
    'refusals_total{reason="busy"} 1',
    'dependency_failures_total{dependency="audit"} 1',
    ...['nonces_taken', 'signing_keys_unusable', 'tokens_without_auth_time'].map((name) => `${name}_total 1`),
    'tokens_unbound_total{issuer="https://two.test"} 1',
    'bindings_lost_total 1',
  ]);
  metrics.http.requestEnded({ route: '/sign', method: 'POST', status: 200, seconds: 0 });
  expect(await metrics.http.registry.metrics()).toContain('route="/sign"');
  metrics.http.close();
});
