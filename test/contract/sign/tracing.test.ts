import { afterAll, expect, test } from 'vitest';
import type { Reply } from '../../env/http-client.ts';
import { startOtlpReceiver } from '../../env/otlp-receiver.ts';
import { startSignerWorld } from '../signer-world.ts';
import { createDpopWorld, steadyClock } from './dpop-world.ts';

const PARENT_ID = '00f067aa0ba902b7';
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const receiver = stack.use(await startOtlpReceiver());
const clock = steadyClock();
const world = stack.use(
  await startSignerWorld({ environment: { OTLP_ENDPOINT: receiver.url }, parts: { now: clock, clocks: {} } }),
);

/** The span of one request, and the names of those below it. */
async function traceOf(digit: string, send: (traceparent: string) => Promise<Reply>) {
  const traceId = digit.repeat(32);
  const answer = await send(`00-${traceId}-${PARENT_ID}-01`);
  const spans = () => receiver.spans.filter((span) => span.traceId === traceId);
  const find = () => spans().find(({ kind }) => kind === 2);
  await expect.poll(find).toBeDefined();
  const request = find();
  const below = spans().filter(({ parentSpanId }) => parentSpanId === request?.spanId);
  return { answer, request, below: below.map(({ name }) => name).toSorted() };
}

test('a signing request is a span below the caller’s, and above what is asked of each dependency', async () => {
  const bearer = world.issuer.opaqueToken();
  const sign = (traceparent: string) => world.sign({ bearer, headers: { traceparent } });
  const { answer, request, below } = await traceOf('a', sign);
  expect(answer.status).toBe(200);
  expect(request).toMatchObject({
    service: 'ori-signer',
    parentSpanId: PARENT_ID,
    name: 'POST /v1/interns/{internId}/daemon/sign',
    attributes: { 'ori.request_id': answer.headers['x-request-id'], 'http.response.status_code': 200 },
  });
  expect(below).toEqual(
    expect.arrayContaining(['audit append', 'issuer fetch', 'postgresql gateFacts', 'redis take']),
  );
  // The issuer's answer is cached now.
  expect((await traceOf('b', sign)).below).not.toContain('issuer fetch');
});

test('the DPoP proof of a refused request is spent in a span of Redis', async () => {
  const dpop = await createDpopWorld(world, clock);
  const { below } = await traceOf('c', (traceparent) =>
    dpop.send({ headers: ['traceparent', traceparent], body: '{}' }),
  );
  expect(below).toEqual(expect.arrayContaining(['redis spend']));
});
