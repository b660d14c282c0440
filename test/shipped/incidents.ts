import { describe, expect, test } from 'vitest';
import type { Refused, Reply } from '../env/http-client.ts';
import { startLoad } from './constant-load.ts';
import { INCIDENTS, type Incident } from './incident-list.ts';
import type { Stack } from './stack.ts';
import { callWith, signingOf } from './world.ts';

/** The time of the last key is read once a minute. */
const ALERT_WITHIN_MS = 65_000;
const PER_SECOND = 8;
const BODY = '{"prompt":"hello"}';

/**
 * What callers get, and the first alert. Prometheus scrapes every two seconds, and an alert waits one second instead of up
 * to a minute. Which alert follows from which numbers: deploy/prometheus/tests.
 */
export function describeIncidents(on: () => Stack): void {
  describe('under load', () => {
    /** Which of the incident's alerts fire, for its daemon if it has one. */
    const firing = async ({ alerts, calls }: Incident) => {
      const instance = typeof calls === 'number' ? on().daemons[calls].opsAddress : undefined;
      const names = (await on().prometheus.firing())
        .filter(({ labels }) => instance === undefined || labels['instance'] === instance)
        .map(({ labels }) => labels['alertname'] ?? '');
      return alerts.filter((name) => names.includes(name));
    };

    test.each(INCIDENTS)(
      'when $name, an alert comes within a minute',
      { timeout: 240_000 },
      async (incident) => {
        const { after, also, refusal, isHidden } = incident;
        // Windows still include the previous incident.
        await expect.poll(() => firing(incident), { timeout: 90_000 }).toEqual([]);
        await using callers = await startCalling(on(), incident);
        // A new daemon accepts no proofs from before its start.
        await expect.poll(callers.outcome, { timeout: 60_000 }).toBe('200');
        if (after) await expect.poll(() => on().prometheus.query(after), { timeout: 60_000 }).not.toEqual([]);
        const brokenAt = performance.now();
        await incident.begin(on());
        try {
          const fires = { timeout: ALERT_WITHIN_MS, interval: 200 };
          await expect.poll(() => firing(incident), fires).not.toEqual([]);
          if (refusal !== undefined) await expect.poll(callers.outcome).toContain(refusal);
          if (also !== undefined)
            await expect.poll(() => firing({ ...incident, alerts: [also] })).toEqual([also]);
        } finally {
          await incident.end(on());
        }
        if (isHidden) expect(await callers.failures(brokenAt)).toEqual([]);
      },
    );
  });
}

/** Signs, or signs and calls a daemon, until it is disposed of. */
async function startCalling(stack: Stack, { calls }: Incident) {
  const opaque = calls === 'opaque' ? stack.issuer.opaqueToken() : undefined;
  const bearer = opaque ?? (await stack.issuer.token({ expiresInSeconds: 3600 }));
  const signing = signingOf(stack, BODY, bearer);
  const call = async () => {
    const signed = await stack.client.ask(signing);
    if (typeof calls !== 'number' || signed.status !== 200) return outcomeOf(signed);
    return outcomeOf(await stack.daemons[calls].client.ask(callWith(signed.json(), BODY)));
  };
  let outcome = 'none';
  const load = startLoad(PER_SECOND, async () => {
    outcome = await call().catch(() => 'no answer');
    return { at: performance.now(), outcome };
  });
  return {
    /** Of the last call. */
    outcome: () => outcome,
    /** Of the calls that ended after then. */
    failures: async (then: number) =>
      (await load.end())
        .flatMap((ended) => (ended.status === 'fulfilled' ? ended.value : []))
        .filter(({ at, outcome: got }) => at >= then && got !== '200'),
    [Symbol.asyncDispose]: async () => void (await load.end()),
  };
}

/** The status, and the code of a daemon's refusal. */
function outcomeOf(answer: Reply): string {
  const code = answer.status === 200 ? undefined : answer.json<Refused>().error.code;
  return typeof code === 'string' ? `${answer.status} ${code}` : `${answer.status}`;
}
