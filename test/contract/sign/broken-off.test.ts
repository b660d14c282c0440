import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { inLanes } from '../../env/in-lanes.ts';
import { rawClient } from '../../env/raw-client.ts';
import { startRedis } from '../../env/redis.ts';
import { useSignerWorld, V2_BODY } from '../signer-world.ts';
import { createDpopWorld } from './dpop-world.ts';

/** It never stops, because a long run takes minutes, and Redis spends a proof only while its nonce is not old. */
const clock = Object.assign(() => Date.now() + 2000, { stop() {} });
// Of this file alone: it counts the spent proofs of all sessions.
const redis = await startRedis();
afterAll(() => redis[Symbol.asyncDispose]());
const world = await useSignerWorld({ redis, parts: { now: clock, clocks: {} } });
const dpop = await createDpopWorld(world, clock);

/** Per ending. One per byte and more takes minutes; the positions of the default differ from run to run. */
const SAMPLES = Number(process.env['BROKEN_OFF_SAMPLES'] ?? 120);
/** Below the limit in flight for one address. */
const AT_ONCE = 120;

/** The sum of a metric's series. */
async function total(name: string, labels = ''): Promise<number> {
  const { text } = await world.page('/metrics');
  const series = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(labels));
  return series.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const spentProofs = async () => (await world.redis.keys('ori:dpop:*')).length;

const counts = async () => ({
  requests: await total('http_server_request_duration_seconds_count', 'daemon/sign'),
  refused: await total('signer_refusals_total'),
  gone: await total('signer_refusals_total', 'client_gone'),
  issued: await total('signer_proofs_issued_total'),
  spent: await spentProofs(),
});

test.each(['fin', 'reset'] as const)(
  'bound requests that break off with %s, at any byte: each handler ends, spends its proof and is counted once',
  { timeout: 60_000 + 60 * SAMPLES },
  async (ending) => {
    const before = await counts();
    const begun = Math.floor(Math.random() * 7);
    await inLanes(SAMPLES, AT_ONCE, async (index) => {
      const request = [
        `POST ${dpop.path} HTTP/1.1`,
        'Host: api.ori.test',
        `Authorization: DPoP ${dpop.token}`,
        `DPoP: ${await dpop.proof()}`,
        'Content-Type: application/json',
        `Content-Length: ${V2_BODY.length}`,
        '',
        V2_BODY,
      ].join('\r\n');
      // Every third in the head, the others in the body.
      const length = request.length - V2_BODY.length;
      const at =
        index % 3 === 0 ? (Math.floor(index / 3) * 13 + begun) % length : length + (index % V2_BODY.length);
      using connection = await rawClient(world.url);
      connection.send(request.slice(0, at));
      await turn();
      if (ending === 'reset') connection.socket.resetAndDestroy();
      else {
        connection.socket.end();
        await connection.untilEnd();
      }
    });
    // A connection after all of theirs.
    await world.request({ path: '/nowhere' });
    await expect
      .poll(async () => (await world.page('/metrics')).text)
      .toMatch(/^http_server_requests_in_flight 0$/m);
    // What was reset may still be read after that request.
    let requests = 0;
    await expect
      .poll(async () => {
        const now = await counts();
        requests = now.requests - before.requests;
        return [now.refused - before.refused, now.gone - before.gone, now.spent - before.spent];
      })
      .toEqual(Array.from({ length: 3 }, () => expect.toSatisfy((count) => count === requests)));
    expect((await counts()).issued).toBe(before.issued);
    if (ending === 'fin') expect(requests).toBe(SAMPLES - Math.ceil(SAMPLES / 3));
  },
);
