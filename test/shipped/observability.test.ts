import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeOriHome } from '../e2e/cli-process.ts';
import { NGINX } from '../env/gateway.ts';
import { freePort } from '../env/ports.ts';
import { type Prometheus, startPrometheus } from '../env/prometheus.ts';
import { findPrometheus, NO_PROMETHEUS } from '../env/prometheus-binaries.ts';
import { dashboardExpressions, metricsIn, valuesAsked } from '../prometheus/dashboard.ts';
import { type Daemon, startDaemon } from './daemon-process.ts';
import { type ShippedWorld, startShippedWorld } from './world.ts';

const binaries = findPrometheus();
if (!binaries) console.warn(`Skipped: nothing is scraped, because ${NO_PROMETHEUS}.`);
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
/** The pages that the shipped targets probe: one of the signer and one of management. */
const GATEWAY_PAGES = ['/.well-known/oauth-protected-resource/v1', '/v1/openapi.json'];
const otherMetrics = ['log/src/metrics.ts', 'log/src/witness/start-witness.ts', 'guard/src/metrics.ts']
  .map((name) => readFileSync(join(import.meta.dirname, '../../services', name), 'utf8'))
  .join('');

describe.skipIf(!binaries || NGINX === undefined)('Prometheus as it ships', () => {
  const stack = new AsyncDisposableStack();
  let world: ShippedWorld;
  let daemon: Daemon;
  let prometheus: Prometheus;
  beforeAll(async () => {
    world = stack.use(await startShippedWorld());
    daemon = stack.use(await startDaemon(world));
    const canary = stack.use(await startCanary(world));
    prometheus = stack.use(
      await startPrometheus(
        {
          signer: world.signers.map(({ opsAddress }) => opsAddress),
          management: [world.management.opsAddress],
          daemon: [daemon.opsAddress],
          gateway: GATEWAY_PAGES.map((path) => world.gateway.secureUrl + path),
          canary: [canary.address],
          certificates: [`localhost:${world.gateway.securePort}`],
        },
        world.gateway.certificate,
      ),
    );
    await world.client.ask({ path: '/v1/interns', bearer: world.demo.apiKey });
    await world.client.ask({ path: `/v1/interns/${world.demo.internId}/daemon/jwks.json` });
  });
  afterAll(() => stack.disposeAsync());

  const sources = () => [...world.signers, world.management, daemon].map(({ opsAddress }) => opsAddress);
  const page = async (address: string) => (await fetch(`http://${address}/metrics`)).text();

  test('both services and the daemon are scraped, each instance separately', async () => {
    const up = async () => {
      const samples = await prometheus.query('up{job!="prometheus"}');
      return samples.map(({ metric, value }) => `${metric['job']} ${metric['instance']} ${value}`).sort();
    };
    await expect
      .poll(up, { timeout: 20_000 })
      .toEqual(
        [
          ...world.signers.map(({ opsAddress }) => `signer ${opsAddress} 1`),
          `management ${world.management.opsAddress} 1`,
          `daemon ${daemon.opsAddress} 1`,
          expect.stringMatching(/^canary \S+ 1$/),
          `certificates localhost:${world.gateway.securePort} 1`,
          ...GATEWAY_PAGES.map((path) => `gateway ${world.gateway.secureUrl}${path} 1`),
        ].sort(),
      );
    const toRedis = 'ori_dependency_up{job="signer", dependency="redis"} == 1';
    await expect.poll(() => prometheus.query(toRedis), { timeout: 20_000 }).toHaveLength(2);
    const answered = async () => (await prometheus.query('probe_success == 1')).length;
    await expect.poll(answered, { timeout: 20_000 }).toBe(3);
    const month = await prometheus.query(
      'probe_ssl_earliest_cert_expiry{job="certificates"} - time() > 29 * 86400',
    );
    expect(month).toHaveLength(1);
  });

  test('promtool accepts every metric', async () => {
    for (const address of sources()) {
      const input = await page(address);
      const { status, stdout, stderr } = spawnSync(binaries?.promtool ?? '', ['check', 'metrics'], { input });
      expect(status, `${address}: ${stdout}${stderr}`).toBe(0);
    }
  });

  test('a hardened signer still reports its process metrics', async () => {
    await expect
      .poll(async () => (await prometheus.query('process_open_fds{job="signer"} > 0')).length, {
        timeout: 20_000,
      })
      .toBe(2);
    expect((await prometheus.query('signer_hardened == 1')).length).toBe(2);
  });

  test('rules and dashboard use existing metrics and label values', async () => {
    const pages = (await Promise.all(sources().map(page))).join('\n');
    const families = [...pages.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    );
    const rules = await prometheus.rules();
    const recorded = rules.filter(({ type }) => type === 'recording').map(({ name }) => name);
    // The signing log and the guard do not run here; their metrics are read from their sources.
    const otherFamilies = [...otherMetrics.matchAll(/'((?:log|witness|guard)_\w+)'/g)].map(
      ([, name = '']) => name,
    );
    // The exporter that probes the gateway has its own metrics.
    const probed = await prometheus.query('{__name__=~"probe_.*"}');
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
      await prometheus.query(expression);
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

  test('the canary’s calls through the gateway are accepted, and its alert fires while the signers’ Redis is down', {
    timeout: 120_000,
  }, async () => {
    const up = async () => (await prometheus.query('ori_canary_up == 1')).length;
    await expect.poll(up, { timeout: 20_000 }).toBe(1);
    const isFiring = async () =>
      (await prometheus.firing()).some(({ labels }) => labels['alertname'] === 'OriCanaryFailing');
    await expect.poll(isFiring, { timeout: 20_000 }).toBe(false);
    await world.redis.stop();
    await expect.poll(isFiring, { timeout: 50_000 }).toBe(true);
    await world.redis.start();
    await expect.poll(isFiring, { timeout: 50_000 }).toBe(false);
  });
});

/** `ori canary` with a token of the issuer, as a caller outside. */
async function startCanary({ gateway, baseUrl, demo, issuer }: ShippedWorld) {
  await using stack = new AsyncDisposableStack();
  const env = { ORI_BASE_URL: baseUrl, ORI_TOKEN: await issuer.token({ expiresInSeconds: 3600 }) };
  const home = stack.use(await makeOriHome(env));
  const authority = join(home.folder, 'ca.pem');
  await writeFile(authority, gateway.certificate);
  const port = await freePort();
  const words = ['canary', demo.internId, '--port', String(port), '--cacert', authority];
  const running = home.start(words, { stdin: null });
  stack.defer(async () => {
    running.child.kill('SIGINT');
    await running.result;
  });
  await running.told(/Each scrape/);
  const owned = stack.move();
  return {
    address: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
