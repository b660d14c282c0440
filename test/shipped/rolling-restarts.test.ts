import { createHash } from 'node:crypto';
import { renderJwkSet } from '@ori/proof';
import { turnKey } from '@ori/turns';
import { createLocalKeySet, createVerifier } from '@ori/verifier';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import { startLoad } from './constant-load.ts';
import type { Service } from './service.ts';
import { type ShippedWorld, startShippedWorld } from './world.ts';

/** Restarts of one signer after the other; `ROLLING_RESTARTS` asks for more. */
const RESTARTS = Number(process.env['ROLLING_RESTARTS'] ?? 10);
const PER_SECOND = 40;
const SETTLED_MS = 1000;
const BODY = Buffer.from('{"prompt":"hello"}');
const ROUTE = { method: 'POST', path: '/api/invoke' };

test.skipIf(NGINX === undefined)(
  `no request is lost, and none is charged twice, while two signers are restarted ${RESTARTS} times by turns`,
  { timeout: 600_000 },
  async () => {
    await using world = await startShippedWorld();
    const bearer = await world.issuer.token({ expiresInSeconds: 3600 });
    const path = `/v1/interns/${world.demo.internId}/daemon/sign`;
    const json = { bodySha256: createHash('sha256').update(BODY).digest('hex'), route: ROUTE };
    const judge = judgeOf(world);
    const refused: string[] = [];
    const load = startLoad(PER_SECOND, async () => {
      const answer = await world.client.ask({ method: 'POST', path, bearer, json });
      const requestId = String(answer.headers['x-request-id']);
      if (answer.status === 500) {
        refused.push(requestId);
        return undefined;
      }
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.bytes}`);
      await judge.verify(answer.json());
      return requestId;
    });
    const stops: number[] = [];
    try {
      for (let restart = 0; restart < RESTARTS; restart++) {
        const signer = world.signers[restart % 2] ?? world.signers[0];
        stops.push(Date.now());
        await signer.stop();
        await signer.start();
      }
    } finally {
      await load.end();
    }
    const outcomes = await load.end();
    const excused = new Set(world.signers.flatMap((signer, index) => excusedBy(signer, stops, index)));
    const failed = [
      ...outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : [])),
      ...refused.filter((id) => !excused.has(id)).map((id) => `500 ${id}`),
    ];
    console.log(
      `${RESTARTS} restarts, ${outcomes.length} requests, ${failed.length} failed; ${refused.length} met a Redis that was slow`,
    );
    expect(failed).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(RESTARTS * 10);

    const answered = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? (outcome.value ?? []) : [],
    );
    const recorded = (await world.auditLines()).map((line) => JSON.parse(line).requestId);
    // What was excused may have been charged or recorded before it failed; nothing else may be there.
    expect(judge.nonces.size).toBe(answered.length);
    const records = new Set(recorded);
    expect(records.size).toBe(recorded.length);
    expect(answered.filter((id) => !records.has(id))).toEqual([]);
    for (const count of [recorded.length, await turnsOf(world)]) {
      expect(count).toBeGreaterThanOrEqual(answered.length);
      expect(count).toBeLessThanOrEqual(answered.length + refused.length);
    }
  },
);

/**
 * The requests that a signer failed for a dependency while it was neither starting nor stopping. Nobody touches Redis or the
 * database here, so it is the machine that was too busy to let them answer within their 200 and 400 ms.
 */
function excusedBy({ output }: Service, stops: readonly number[], index: number): string[] {
  const lines = output.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const own = stops.filter((_, turn) => turn % 2 === index);
  const starts = lines.filter(({ msg }) => msg === 'listening').map(({ time }) => Date.parse(time));
  const isSettled = (at: number) => {
    const start = Math.max(...starts.filter((begun) => begun <= at));
    const stop = Math.min(...own.filter((begun) => begun > start));
    return at - start > SETTLED_MS && at < stop;
  };
  return lines
    .filter(
      ({ status, err, time }) =>
        status === 500 && err?.class === 'DependencyError' && isSettled(Date.parse(time)),
    )
    .map(({ requestId }) => requestId);
}

/** The library's own verdict on every answer; what it would spend is collected. */
function judgeOf({ demo }: ShippedWorld) {
  const nonces = new Set<string>();
  const { internId, publicKey } = demo;
  const verifier = createVerifier({
    internId,
    keys: createLocalKeySet(renderJwkSet([{ publicKey, notBefore: 0 }])),
    replay: {
      spend({ nonce }) {
        if (nonce !== undefined) nonces.add(nonce);
        return 'spent';
      },
    },
  });
  return {
    nonces,
    verify(proof: Readonly<Record<string, string>>) {
      const rawHeaders = ['content-type', 'application/json', ...Object.entries(proof).flat()];
      return verifier.verify({ method: ROUTE.method, target: ROUTE.path, rawHeaders, body: BODY });
    },
  };
}

async function turnsOf({ redis, demo }: ShippedWorld): Promise<number> {
  const client = new Redis(redis.url);
  try {
    return Number(await client.get(turnKey('user', demo.userId)));
  } finally {
    client.disconnect();
  }
}
