import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Alertmanager, startAlertmanager } from '../env/alertmanager.ts';
import { NGINX } from '../env/gateway.ts';
import type { Prometheus } from '../env/prometheus.ts';
import { findAlertmanager, findPrometheus } from '../env/prometheus-binaries.ts';
import { renderTable } from '../env/text-table.ts';
import { startCalling } from './calling.ts';
import type { Client } from './client.ts';
import { startIncidentWorld } from './incident-world.ts';
import { FURTHER_INCIDENTS, INCIDENTS, type IncidentWorld } from './incidents.ts';

// Who is woken by each incident, and when: Prometheus and Alertmanager exactly as they ship. Takes minutes for each.

const isWanted = process.env['PAGES'] !== undefined;
const binaries = findPrometheus() && findAlertmanager();
if (isWanted && !binaries)
  console.warn('Skipped: Prometheus (`npm run setup`) or `prometheus-alertmanager` is not installed.');
/** What else pages must do so by then, so that an operator has not repaired it yet. */
const REPAIRED_AFTER_MS = 90_000;
const RESOLVED_WITHIN_MS = 11 * 60_000;
const all = [...INCIDENTS, ...FURTHER_INCIDENTS];

describe.skipIf(!isWanted || !binaries || NGINX === undefined)('an incident sends one page', () => {
  const stack = new AsyncDisposableStack();
  const table: string[][] = [['incident', 'pages', 'first after', 'resolved after']];
  let world: IncidentWorld;
  let client: Client;
  let prometheus: Prometheus;
  let alertmanager: Alertmanager;
  beforeAll(async () => {
    alertmanager = stack.use(await startAlertmanager());
    ({ world, client, prometheus } = stack.use(await startIncidentWorld(alertmanager.address)));
  });
  afterAll(async () => {
    console.log(renderTable(table));
    await stack.disposeAsync();
  });

  test.each(all.filter(({ isPossible, isSilent }) => isPossible !== false && !isSilent))(
    'when $name',
    { timeout: 20 * 60_000 },
    async (incident) => {
      await using callers = await startCalling(world, client, incident, 5);
      await expect.poll(callers.outcome, { timeout: 60_000 }).toBe('200');
      if (incident.after) {
        const history = () => prometheus.query('sum(rate(signer_proofs_issued_total[1h] offset 5m)) > 0.1');
        await expect.poll(history, { timeout: 7 * 60_000, interval: 1000 }).not.toEqual([]);
      }
      await expect.poll(alertmanager.pages, { timeout: RESOLVED_WITHIN_MS }).toEqual([]);
      const brokenAt = performance.now();
      /** By name, when the first notification with it came. */
      const pages = new Map<string, number>();
      const read = () => {
        for (const { receiver, alerts, at } of alertmanager.notifications) {
          if (receiver !== 'page' || at < brokenAt) continue;
          for (const { status, labels } of alerts) {
            const name = labels['alertname'] ?? '';
            if (status === 'firing' && !pages.has(name)) pages.set(name, at - brokenAt);
          }
        }
      };
      await incident.begin(world);
      await pause(REPAIRED_AFTER_MS);
      await incident.end(world);
      const repairedAt = performance.now();
      read();
      let lastAt = repairedAt;
      // Whatever is not muted any more would be sent with the next notification of its group.
      const active = async () => {
        const names = await alertmanager.pages();
        for (const name of names) if (!pages.has(name)) pages.set(`${name} late`, lastAt - brokenAt);
        if (names.length > 0) lastAt = performance.now();
        return names.length > 0 || performance.now() - lastAt < 30_000;
      };
      await expect
        .poll(active, { timeout: RESOLVED_WITHIN_MS, interval: 1000 })
        .toBe(false)
        .catch(() => pages.set('never resolved', Number.NaN));
      const [first] = pages.values();
      table.push([
        incident.name,
        [...pages].map(([name, ms]) => `${name} ${seconds(ms)}`).join(', ') || 'none',
        first === undefined ? '' : seconds(first),
        pages.size === 0 ? '' : seconds(lastAt - repairedAt),
      ]);
      console.log(table.at(-1)?.join(' | '));
      expect([...pages.keys()]).toEqual(incident.isTicket ? [] : incident.alerts.slice(0, 1));
      if (first !== undefined) expect(first).toBeLessThan(60_000);
    },
  );
});

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
