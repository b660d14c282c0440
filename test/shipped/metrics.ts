import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findPrometheus } from '../env/prometheus-binaries.ts';
import { dashboardExpressions, metricsIn, valuesAsked } from '../prometheus/dashboard.ts';
import { GATEWAY_PAGES, type Stack } from './stack.ts';

/** Only a signer with the roles of a root has this one. */
const OF_ROOT = 'signer_key_set_roles_end_timestamp_seconds';
/** Of `ori canary`, and of exporters that do not run here: the node exporter, kube-state-metrics, the kubelet, the backup script and nginx. */
const OF_OTHERS = [
  'ori_canary_up',
  'node_systemd_unit_state',
  'node_filesystem_avail_bytes',
  'kube_cronjob_status_last_schedule_time',
  'kube_cronjob_status_last_successful_time',
  'kubelet_volume_stats_available_bytes',
  'ori_backup_timestamp_seconds',
  'nginx_connections_active',
  'nginx_connections_waiting',
];
const otherMetrics = ['log/src/metrics.ts', 'guard/src/metrics.ts']
  .map((name) => readFileSync(join(import.meta.dirname, '../../services', name), 'utf8'))
  .join('');

/** What Prometheus reads of the services, and whether the shipped rules and dashboard ask for that. */
export function describeMetrics(on: () => Stack): void {
  describe('Prometheus as it ships', () => {
    const sources = () =>
      [...on().signers, on().management, on().daemons[0]].map(({ opsAddress }) => opsAddress);
    const page = async (address: string) => (await fetch(`http://${address}/metrics`)).text();

    test('both services and the daemon are scraped, each instance separately', async () => {
      const up = async () => {
        const samples = await on().prometheus.query('up{job!="prometheus"}');
        return samples.map(({ metric, value }) => `${metric['job']} ${metric['instance']} ${value}`).sort();
      };
      await expect
        .poll(up)
        .toEqual(
          [
            ...on().signers.map(({ opsAddress }) => `signer ${opsAddress} 1`),
            `management ${on().management.opsAddress} 1`,
            ...on().daemons.map(({ opsAddress }) => `daemon ${opsAddress} 1`),
            expect.stringMatching(/^canary \S+ 1$/),
            `certificates localhost:${on().gateway.securePort} 1`,
            ...GATEWAY_PAGES.map((path) => `gateway ${on().gateway.secureUrl}${path} 1`),
          ].sort(),
        );
      const toRedis = 'ori_dependency_up{job="signer", dependency="redis"} == 1';
      await expect.poll(() => on().prometheus.query(toRedis)).toHaveLength(2);
      const answered = async () => (await on().prometheus.query('probe_success == 1')).length;
      await expect.poll(answered).toBe(3);
      const month = await on().prometheus.query(
        'probe_ssl_earliest_cert_expiry{job="certificates"} - time() > 29 * 86400',
      );
      expect(month).toHaveLength(1);
    });

    test('promtool accepts every metric', async () => {
      for (const address of sources()) {
        const input = await page(address);
        const { status, stdout, stderr } = spawnSync(findPrometheus()?.promtool ?? '', ['check', 'metrics'], {
          input,
        });
        expect(status, `${address}: ${stdout}${stderr}`).toBe(0);
      }
    });

    test('a hardened signer still reports its process metrics', async () => {
      await expect
        .poll(async () => (await on().prometheus.query('process_open_fds{job="signer"} > 0')).length)
        .toBe(2);
      expect((await on().prometheus.query('signer_hardened == 1')).length).toBe(2);
    });

    test('rules and dashboard use existing metrics and label values', async () => {
      const pages = (await Promise.all(sources().map(page))).join('\n');
      const families = [...pages.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      );
      const rules = await on().prometheus.rules();
      const recorded = rules.filter(({ type }) => type === 'recording').map(({ name }) => name);
      // The signing log and the guard do not run here; their metrics are read from their sources.
      const otherFamilies = [...otherMetrics.matchAll(/'((?:log|guard)_\w+)'/g)].map(([, name = '']) => name);
      // The exporter that probes the gateway has its own metrics.
      const probed = await on().prometheus.query('{__name__=~"probe_.*"}');
      const ofProbe = probed.map(({ metric }) => metric['__name__'] ?? '');
      const known = new Set([
        'up',
        'ALERTS',
        OF_ROOT,
        ...OF_OTHERS,
        ...ofProbe,
        ...families,
        ...otherFamilies,
        ...recorded,
      ]);
      const expressions = [...rules.map(({ query }) => query), ...dashboardExpressions()];
      expect(expressions.length).toBeGreaterThan(80);
      for (const expression of expressions) {
        await on().prometheus.query(expression);
        expect(
          metricsIn(expression).filter((name) => !known.has(name)),
          expression,
        ).toEqual([]);
        for (const label of ['reason', 'dependency', 'outcome', 'version', 'cache', 'result', 'job']) {
          const values = [...pages.matchAll(new RegExp(`[{,]${label}="([^"]*)"`, 'g'))].map(
            ([, value = '']) => value,
          );
          if (label === 'job') values.push('signer', 'management', 'daemon', 'gateway', 'canary');
          for (const asked of valuesAsked(expression, label)) {
            expect(
              values.some((value) => asked.test(value)),
              `${expression}: ${label} ${asked}`,
            ).toBe(true);
          }
        }
      }
    });
  });
}
