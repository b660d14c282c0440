import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../env/certificate.ts';
import { NGINX } from '../env/gateway.ts';
import { startPostgres } from '../env/postgres.ts';
import { type Prometheus, startPrometheus } from '../env/prometheus.ts';
import { findPrometheus, NO_PROMETHEUS } from '../env/prometheus-binaries.ts';
import { openRoom } from '../env/room.ts';
import { startTcpProxy } from '../env/tcp-proxy.ts';
import { renderTable } from '../env/text-table.ts';
import { type Answer, type Client, createClient } from './client.ts';
import { startLoad } from './constant-load.ts';
import { startDaemon } from './daemon-process.ts';
import { INCIDENTS, type Incident, type IncidentWorld } from './incidents.ts';
import { movesClocks } from './service.ts';
import { startShippedWorld } from './world.ts';

// Each incident with real components: what callers get, and the first alert. Prometheus scrapes every two seconds, an alert
// waits one second instead of up to a minute, and OriNoTraffic compares seconds. Tickets that need hours by design are
// tested in deploy/prometheus/tests.

const binaries = findPrometheus();
if (!binaries) console.warn(`Skipped: no incident is watched, because ${NO_PROMETHEUS}.`);
const PER_SECOND = 20;
/** The time of the last key is read once a minute. */
const ALERT_WITHIN_MS = 65_000;
const BODY = '{"prompt":"hello"}';
const readme = readFileSync(join(import.meta.dirname, '../../deploy/prometheus/README.md'), 'utf8');

describe.skipIf(!binaries || NGINX === undefined)('behind the shipped gateway, under load', () => {
  const stack = new AsyncDisposableStack();
  const table: string[][] = [['incident', 'callers', 'first alert', 'after the break', 'after callers']];
  let world: IncidentWorld;
  let prometheus: Prometheus;
  let client: Client;
  beforeAll(async () => {
    const postgres = stack.use(await startPostgres());
    const room = stack.use(await openRoom('ori-clocks'));
    const clockFiles = { signer: join(room.directory, 'signer'), daemon: join(room.directory, 'daemon') };
    for (const file of Object.values(clockFiles)) await writeFile(file, '+0');
    const clockFileOf = (whose: 'signer' | 'daemon') => (movesClocks ? clockFiles[whose] : undefined);
    const shipped = stack.use(
      await startShippedWorld({}, {}, {}, { postgres, clockFile: clockFileOf('signer') }),
    );
    const { gateway } = shipped;
    const redisAdmin = stack.adopt(new Redis(shipped.redis.url), (redis) => redis.disconnect());
    redisAdmin.on('error', () => {});
    const toKeySet = stack.use(await startTcpProxy(gateway.securePort));
    const clockFile = clockFileOf('daemon');
    const daemons = [
      stack.use(await startDaemon(shipped, { clockFile, gatewayPort: toKeySet.port })),
      stack.use(await startDaemon(shipped, { clockFile, localKeys: true })),
    ] as const;
    const oldCertificate = makeCertificate({ name: 'old', daysLeft: 2 });
    const trusted = gateway.certificate + oldCertificate.cert;
    client = stack.use(createClient(gateway.secureUrl, trusted));
    world = { ...shipped, postgres, clockFiles, daemons, toKeySet, redisAdmin, oldCertificate };
    prometheus = stack.use(
      await startPrometheus(
        {
          signer: world.signers.map(({ opsAddress }) => opsAddress),
          management: [world.management.opsAddress],
          daemon: daemons.map(({ opsAddress }) => opsAddress),
          gateway: ['/.well-known/oauth-protected-resource/v1', '/v1/openapi.json'].map(
            (path) => gateway.secureUrl + path,
          ),
        },
        trusted,
      ),
    );
  });
  afterAll(async () => {
    console.log(renderTable(table));
    await stack.disposeAsync();
  });

  /** Which of the incident's alerts fire, for its daemon if it has one. */
  const firing = async ({ alerts, calls }: Incident) => {
    const instance = typeof calls === 'number' ? world.daemons[calls].opsAddress : undefined;
    const names = (await prometheus.firing())
      .filter(({ labels }) => instance === undefined || labels['instance'] === instance)
      .map(({ labels }) => labels['alertname'] ?? '');
    return alerts.filter((name) => names.includes(name));
  };

  test.each(INCIDENTS.filter(({ isPossible }) => isPossible !== false))(
    'when $name, an alert comes within a minute',
    { timeout: 240_000 },
    async (incident) => {
      // Windows still include the previous incident.
      await expect.poll(() => firing(incident), { timeout: 90_000 }).toEqual([]);
      const callers = await startCalling(world, client, incident);
      // A new daemon accepts no proofs from before its start.
      await expect.poll(callers.outcome, { timeout: 60_000 }).toBe('200');
      await pause(1000);
      const { after } = incident;
      if (after) await expect.poll(() => prometheus.query(after), { timeout: 60_000 }).not.toEqual([]);
      const brokenAt = performance.now();
      await incident.begin(world);
      if (incident.isSilent) await callers.end(brokenAt);
      let first: string | undefined;
      let alertAt = Number.NaN;
      try {
        const found = async () => {
          [first] = await firing(incident);
          return first;
        };
        await expect.poll(found, { timeout: ALERT_WITHIN_MS, interval: 200 }).toBeDefined();
        alertAt = performance.now();
        const { refusal } = incident;
        if (refusal !== undefined) await expect.poll(callers.outcome, { timeout: 20_000 }).toContain(refusal);
      } finally {
        await incident.end(world).finally(() => callers.end(brokenAt));
      }
      const alertMs = alertAt - brokenAt;
      const { failures, total } = await callers.end(brokenAt);
      const firstFailureAt = failures[0]?.answeredAt;
      const sinceCallers = firstFailureAt === undefined ? undefined : alertAt - firstFailureAt;
      const answers = [...new Set(failures.map(({ outcome }) => outcome))].join(', ');
      table.push([
        incident.name,
        failures.length === 0 ? 'not affected' : `${failures.length} of ${total} failed: ${answers}`,
        first ?? 'never',
        `${(alertMs / 1000).toFixed(1)} s`,
        sinceCallers === undefined ? '' : `${(sinceCallers / 1000).toFixed(1)} s`,
      ]);
      if (!incident.isNoticed) expect(answers).toBe('');
      if (incident.refusal !== undefined) expect(answers).toContain(incident.refusal);
      expect(readme).toContain(`### ${first}\n`);
    },
  );
});

/** Signs, or signs and calls a daemon, until `end`. */
async function startCalling(world: IncidentWorld, client: Client, { calls }: Incident) {
  const bodySha256 = createHash('sha256').update(BODY).digest('hex');
  const signing = {
    method: 'POST',
    path: `/v1/interns/${world.demo.internId}/daemon/sign`,
    bearer:
      calls === 'opaque' ? world.issuer.opaqueToken() : await world.issuer.token({ expiresInSeconds: 3600 }),
    json: { bodySha256, route: { method: 'POST', path: '/api/invoke' } },
  };
  const daemon = typeof calls === 'number' ? world.daemons[calls].client : undefined;
  const call = async () => {
    const signed = await client.ask(signing);
    if (daemon === undefined || signed.status !== 200) return outcomeOf(signed);
    const headers = { 'content-type': 'application/json', ...signed.json() };
    return outcomeOf(await daemon.ask({ method: 'POST', path: '/api/invoke', headers, body: BODY }));
  };
  let outcome = 'none';
  const load = startLoad(PER_SECOND, async () => {
    const at = performance.now();
    outcome = await call().catch(() => 'no answer');
    return { at, answeredAt: performance.now(), outcome };
  });
  return {
    /** Of the last call. */
    outcome: () => outcome,
    async end(brokenAt: number) {
      const outcomes = await load.end();
      const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
      const during = answers.filter(({ answeredAt }) => answeredAt >= brokenAt);
      // To a caller, a response that is seconds late is useless.
      const failures = during.filter(
        ({ at, answeredAt, outcome }) => outcome !== '200' || answeredAt - at > 5000,
      );
      return { failures, total: during.length };
    },
  };
}

/** The status, and the code of a daemon's refusal. */
function outcomeOf(answer: Answer): string {
  const code = answer.status === 200 ? undefined : answer.json().error.code;
  return typeof code === 'string' ? `${answer.status} ${code}` : `${answer.status}`;
}
