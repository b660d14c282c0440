import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../env/otlp-receiver.ts';
import { type ShippedWorld, startShippedWorld } from './world.ts';

const PARENT_ID = '00f067aa0ba902b7';
const stack = new AsyncDisposableStack();
let collector: OtlpReceiver;
let world: ShippedWorld;

describe.skipIf(NGINX === undefined)('hardened services with a collector', () => {
  beforeAll(async () => {
    collector = stack.use(await startOtlpReceiver());
    world = stack.use(await startShippedWorld({}, {}, { OTLP_ENDPOINT: collector.url }));
  });
  afterAll(() => stack.disposeAsync());

  const requestSpan = (traceId: string) =>
    collector.spans.find((span) => span.traceId === traceId && span.kind === 2);

  test('export traces that the gateway passed on, under the permission model', async () => {
    const [signing, listing] = ['a'.repeat(32), 'b'.repeat(32)];
    const { apiKey, internId } = world.demo;
    await world.client.ask({
      path: `/v1/interns/${internId}/daemon/jwks.json`,
      headers: { traceparent: `00-${signing}-${PARENT_ID}-00` },
    });
    await world.client.ask({
      path: '/v1/interns',
      bearer: apiKey,
      headers: { traceparent: `00-${listing}-${PARENT_ID}-00` },
    });
    const spanOf = (service: string) => ({ service, parentSpanId: PARENT_ID, status: 0 });
    await expect.poll(() => requestSpan(signing), { timeout: 10_000 }).toMatchObject(spanOf('ori-signer'));
    await expect
      .poll(() => requestSpan(listing), { timeout: 10_000 })
      .toMatchObject(spanOf('ori-management'));
    expect((await world.gateway.accessLog()).match(/"traceId":"\w+"/g)).toEqual(
      [signing, listing].map((id) => `"traceId":"${id}"`),
    );
  });

  test('export remaining spans when they stop, and stop even if the collector is silent', async () => {
    const traceId = 'c'.repeat(32);
    const headers = { traceparent: `00-${traceId}-${PARENT_ID}-00` };
    await world.client.ask({ path: '/v1/interns', bearer: world.demo.apiKey, headers });
    await world.management.stop();
    expect(requestSpan(traceId)).toBeDefined();
    collector.behaviour = 'silent';
    await world.client.ask({ path: `/v1/interns/${world.demo.internId}/daemon/jwks.json`, headers });
    await Promise.all(world.signers.map((signer) => signer.stop()));
  });
});
