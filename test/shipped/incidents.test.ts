import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import type { Prometheus } from '../env/prometheus.ts';
import { findPrometheus, NO_PROMETHEUS } from '../env/prometheus-binaries.ts';
import { renderTable } from '../env/text-table.ts';
import { startCalling } from './calling.ts';
import type { Client } from './client.ts';
import { startIncidentWorld } from './incident-world.ts';
import { INCIDENTS, type Incident, type IncidentWorld } from './incidents.ts';

// Each incident with real components: what callers get, and the first alert. Prometheus scrapes every two seconds, an alert
// waits one second instead of up to a minute, and OriNoTraffic compares seconds. Tickets that need hours by design are
// tested in deploy/prometheus/tests.

const binaries = findPrometheus();
if (!binaries) console.warn(`Skipped: no incident is watched, because ${NO_PROMETHEUS}.`);
/** The time of the last key is read once a minute. */
const ALERT_WITHIN_MS = 65_000;

describe.skipIf(!binaries || NGINX === undefined)('behind the shipped gateway, under load', () => {
  const stack = new AsyncDisposableStack();
  const table: string[][] = [['incident', 'callers', 'first alert', 'after the break', 'after callers']];
  let world: IncidentWorld;
  let prometheus: Prometheus;
  let client: Client;
  beforeAll(async () => {
    ({ world, prometheus, client } = stack.use(await startIncidentWorld()));
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
      if (incident.isHidden) expect(answers).toBe('');
      if (incident.refusal !== undefined) expect(answers).toContain(incident.refusal);
    },
  );
});
