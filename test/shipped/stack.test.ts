import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import { findPrometheus, NO_PROMETHEUS } from '../env/prometheus-binaries.ts';
import { describeCalls } from './calls.ts';
import { describeIncidents } from './incidents.ts';
import { describeMetrics } from './metrics.ts';
import { type Stack, startStack } from './stack.ts';

const isPossible = NGINX !== undefined && findPrometheus() !== undefined;
if (!findPrometheus()) console.warn(`Skipped: what ships, because ${NO_PROMETHEUS}.`);
const PARENT_ID = '00f067aa0ba902b7';

describe.skipIf(!isPossible)('what ships, through its gateway over TLS', () => {
  let stack: Stack;
  const on = () => stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  describeCalls(on);
  describeMetrics(on);

  const requestSpan = (traceId: string) =>
    stack.collector.spans.find((span) => span.traceId === traceId && span.kind === 2);
  const keySet = () => `/v1/interns/${stack.demo.internId}/daemon/jwks.json`;

  test('hardened services export traces that the gateway passed on', async () => {
    const [signing, listing] = ['a'.repeat(32), 'b'.repeat(32)];
    const ask = (path: string, traceId: string) => {
      const headers = { traceparent: `00-${traceId}-${PARENT_ID}-00` };
      return stack.client.ask({ path, bearer: stack.demo.apiKey, headers });
    };
    await ask(keySet(), signing);
    await ask('/v1/interns', listing);
    const spanOf = (service: string) => ({ service, parentSpanId: PARENT_ID, status: 0 });
    await expect.poll(() => requestSpan(signing)).toMatchObject(spanOf('ori-signer'));
    await expect.poll(() => requestSpan(listing)).toMatchObject(spanOf('ori-management'));
    const log = await stack.gateway.accessLog();
    for (const id of [signing, listing]) expect(log).toContain(`"traceId":"${id}"`);
  });

  describeIncidents(on);

  test('services export remaining spans when they stop, and stop even if the collector is silent', async () => {
    const traceId = 'c'.repeat(32);
    const headers = { traceparent: `00-${traceId}-${PARENT_ID}-00` };
    await stack.client.ask({ path: '/v1/interns', bearer: stack.demo.apiKey, headers });
    await stack.management.stop();
    expect(requestSpan(traceId)).toBeDefined();
    stack.collector.behaviour = 'silent';
    await stack.client.ask({ path: keySet(), headers });
    await Promise.all(stack.signers.map((signer) => signer.stop()));
  });

  test('the output of gateway and services contains no credentials', async () => {
    const written = [
      await stack.gateway.accessLog(),
      ...stack.signers.flatMap(({ output }) => output),
      ...stack.management.output,
      ...(await stack.auditLines()),
    ].join('\n');
    expect(written).toContain('/daemon/sign');
    expect(written).not.toMatch(/eyJ[\w-]{20,}/);
    expect(written).not.toContain(stack.managementKey);
    expect(written).not.toContain(stack.demo.apiKey);
  });
});
