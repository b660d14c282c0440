import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import { type PostgresServer, startPostgres } from '../env/postgres.ts';
import { type Prometheus, startPrometheus } from '../env/prometheus.ts';
import { findPrometheus, NO_PROMETHEUS } from '../env/prometheus-binaries.ts';
import { openRoom } from '../env/room.ts';
import { renderTable } from '../env/text-table.ts';
import { startLoad } from './constant-load.ts';
import { movesClocks } from './service.ts';
import { type ShippedWorld, startShippedWorld } from './world.ts';

// Each incident with real components: what callers get, and the first alert. Prometheus scrapes every two seconds, and an alert
// waits one second instead of up to a minute. Alerts that need longer by design are tested in deploy/prometheus/tests.

const binaries = findPrometheus();
if (!binaries) console.warn(`Skipped: no incident is watched, because ${NO_PROMETHEUS}.`);
const PER_SECOND = 20;
const ALERT_WITHIN_MS = 60_000;
const BODY_SHA256 = '8a44725210b9dcd4fefd9f0eca07b70ae45e69274a3105fb25eb426a2cf8bbf4';
const readme = readFileSync(join(import.meta.dirname, '../../deploy/prometheus/README.md'), 'utf8');

let postgres: PostgresServer;
let clockFile: string;
let restarted: Promise<void> | undefined;

interface Incident {
  readonly name: string;
  /** Any of these may be the first. */
  readonly alerts: readonly string[];
  /** Whether callers notice the incident. */
  readonly isNoticed: boolean;
  /** Uses opaque tokens, so that the issuer is called. */
  readonly isOpaque?: boolean;
  readonly isPossible?: boolean;
  begin(world: ShippedWorld): Promise<void>;
  end(world: ShippedWorld): Promise<void>;
}

const toGateway = (signal: NodeJS.Signals) => async (world: ShippedWorld) => {
  for (const pid of world.gateway.pids()) process.kill(pid, signal);
};
const moveClock = (seconds: string) => () => writeFile(clockFile, seconds);
/** Corrupts the sealed seed, or restores it. */
const reverseSeed = async ({ store, demo }: ShippedWorld) =>
  void (await sql`update signing_keys set sealed_seed = reverse(sealed_seed) where intern_id = ${demo.internId}`.execute(
    store.kysely,
  ));
const setFileSizeMax = (bytes: string) => async (world: ShippedWorld) => {
  spawnSync('prlimit', [`--pid=${world.signers[0].pid}`, `--fsize=${bytes}:`]);
};

const INCIDENTS: readonly Incident[] = [
  {
    name: 'the gateway stands still',
    alerts: ['OriGatewayDown'],
    isNoticed: true,
    begin: toGateway('SIGSTOP'),
    end: toGateway('SIGCONT'),
  },
  {
    name: 'Redis is down',
    alerts: ['OriDependencyDown', 'OriRequestsFailing'],
    isNoticed: true,
    begin: ({ redis }) => redis.stop(),
    end: ({ redis }) => redis.start(),
  },
  {
    name: 'PostgreSQL is down',
    alerts: ['OriDependencyDown', 'OriRequestsFailing'],
    isNoticed: true,
    begin: () => postgres.stop(),
    end: () => postgres.start(),
  },
  {
    name: 'both signers are down',
    alerts: ['OriServiceDown', 'OriGatewayDown'],
    isNoticed: true,
    begin: async ({ signers }) => void (await Promise.all(signers.map((signer) => signer.stop()))),
    end: async ({ signers }) => void (await Promise.all(signers.map((signer) => signer.start()))),
  },
  {
    name: 'one signer is down',
    alerts: ['OriTargetDown'],
    isNoticed: false,
    begin: ({ signers }) => signers[0].stop(),
    end: ({ signers }) => signers[0].start(),
  },
  {
    name: 'management is down',
    alerts: ['OriServiceDown', 'OriGatewayDown'],
    isNoticed: false,
    begin: ({ management }) => management.stop(),
    end: ({ management }) => management.start(),
  },
  {
    name: 'the audit disk of one signer is full',
    alerts: ['OriAuditFailing'],
    isNoticed: true,
    begin: setFileSizeMax('1'),
    end: setFileSizeMax('unlimited'),
  },
  {
    name: 'the clock of one signer is 5 s ahead',
    alerts: ['OriSignerClockWrong'],
    isNoticed: true,
    isPossible: movesClocks,
    begin: moveClock('+5'),
    end: moveClock('+0'),
  },
  {
    name: 'one signer is restarted without its issuer',
    alerts: ['OriNotListening', 'OriDependencyDown'],
    isNoticed: false,
    async begin({ signers, issuer }) {
      await signers[1].stop();
      await issuer.stop();
      restarted = signers[1].start();
    },
    async end({ issuer }) {
      await issuer.start();
      await restarted;
    },
  },
  {
    name: 'no KEK opens a signing key',
    alerts: ['OriSigningKeyUnusable'],
    isNoticed: true,
    begin: reverseSeed,
    end: reverseSeed,
  },
  {
    name: 'the issuer is down, for opaque tokens',
    alerts: ['OriRequestsFailing'],
    isNoticed: true,
    isOpaque: true,
    begin: ({ issuer }) => issuer.stop(),
    end: ({ issuer }) => issuer.start(),
  },
];

describe.skipIf(!binaries || NGINX === undefined)('behind the shipped gateway, under load', () => {
  const stack = new AsyncDisposableStack();
  const table: string[][] = [['incident', 'callers', 'first alert', 'after the break', 'after callers']];
  let world: ShippedWorld;
  let prometheus: Prometheus;
  beforeAll(async () => {
    postgres = stack.use(await startPostgres());
    const room = stack.use(await openRoom('ori-clock'));
    clockFile = join(room.directory, 'clock');
    await moveClock('+0')();
    const moved = movesClocks ? { clockFile } : {};
    world = stack.use(await startShippedWorld({}, {}, {}, { postgres, ...moved }));
    prometheus = stack.use(
      await startPrometheus(
        {
          signer: world.signers.map(({ opsAddress }) => opsAddress),
          management: [world.management.opsAddress],
          gateway: ['/.well-known/oauth-protected-resource/v1', '/v1/openapi.json'].map(
            (path) => world.gateway.secureUrl + path,
          ),
        },
        world.gateway.certificate,
      ),
    );
  });
  afterAll(async () => {
    console.log(renderTable(table));
    await stack.disposeAsync();
  });

  const firing = async () => {
    const names = (await prometheus.firing()).map(({ labels }) => labels['alertname'] ?? '');
    return names.filter((name) => !['OriWatchdog', 'OriRestarting'].includes(name));
  };

  test.each(INCIDENTS.filter(({ isPossible }) => isPossible !== false))(
    'when $name, an alert comes within a minute',
    { timeout: 240_000 },
    async (incident) => {
      // The hourly error budget still includes the previous incident.
      await expect
        .poll(async () => (await firing()).filter((name) => incident.alerts.includes(name)), {
          timeout: 90_000,
        })
        .toEqual([]);
      const callers = await startCalling(world, incident.isOpaque ?? false);
      await pause(1000);
      const brokenAt = performance.now();
      await incident.begin(world);
      let first: string | undefined;
      try {
        const found = async () => {
          const names = await firing();
          first = incident.alerts.find((name) => names.includes(name));
          return first;
        };
        await expect.poll(found, { timeout: ALERT_WITHIN_MS, interval: 200 }).toBeDefined();
      } finally {
        await incident.end(world);
      }
      const alertMs = performance.now() - brokenAt;
      const { failed, total, firstFailureAt } = await callers.end(brokenAt);
      const sinceCallers = firstFailureAt === undefined ? undefined : brokenAt + alertMs - firstFailureAt;
      table.push([
        incident.name,
        failed === 0 ? 'not affected' : `${failed} of ${total} failed`,
        first ?? 'never',
        `${(alertMs / 1000).toFixed(1)} s`,
        sinceCallers === undefined ? '' : `${(sinceCallers / 1000).toFixed(1)} s`,
      ]);
      if (!incident.isNoticed) expect(failed).toBe(0);
      expect(readme).toContain(`### ${first}\n`);
    },
  );
});

async function startCalling(world: ShippedWorld, isOpaque: boolean) {
  const path = `/v1/interns/${world.demo.internId}/daemon/sign`;
  const json = { bodySha256: BODY_SHA256, route: { method: 'POST', path: '/api/invoke' } };
  const jwt = await world.issuer.token({ expiresInSeconds: 3600 });
  const opaque = isOpaque ? world.issuer.opaqueToken() : undefined;
  const load = startLoad(PER_SECOND, async () => {
    const at = performance.now();
    const status = await world.client
      .ask({ method: 'POST', path, bearer: opaque ?? jwt, json })
      .then((answer) => answer.status)
      .catch(() => 0);
    return { at, answeredAt: performance.now(), status };
  });
  return {
    async end(brokenAt: number) {
      const outcomes = await load.end();
      const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
      const during = answers.filter(({ answeredAt }) => answeredAt >= brokenAt);
      // To a caller, a response that is seconds late is useless.
      const failures = during.filter(
        ({ at, answeredAt, status }) => status !== 200 || answeredAt - at > 5000,
      );
      return { failed: failures.length, total: during.length, firstFailureAt: failures[0]?.answeredAt };
    },
  };
}
