import { createHash } from 'node:crypto';
import { renderJwkSet } from '@ori/proof';
import { turnKey } from '@ori/service-kit/turns';
import { createLocalKeySet, createVerifier } from '@ori/verifier';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import { startLoad } from './constant-load.ts';
import { type ShippedWorld, startShippedWorld } from './world.ts';

/** Restarts of one signer after the other; `ROLLING_RESTARTS` asks for another number. */
const RESTARTS = Number(process.env['ROLLING_RESTARTS'] ?? 30);
const PER_SECOND = 40;
/** A signer gives Redis 200 ms: a machine on which processes wait for half of that to run can be the cause of a 500. */
const STARVED_MS = 100;
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
    const starved = watchMachine();
    let excused = 0;
    const load = startLoad(PER_SECOND, async () => {
      const answer = await world.client.ask({ method: 'POST', path, bearer, json });
      if (answer.status === 500 && starved.now()) {
        excused += 1;
        return undefined;
      }
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.bytes}`);
      await judge.verify(answer.json());
      return answer.headers['x-request-id'];
    });
    try {
      for (let restart = 0; restart < RESTARTS; restart++) {
        const signer = world.signers[restart % 2] ?? world.signers[0];
        await signer.stop();
        await signer.start();
      }
    } finally {
      await load.end();
      starved.end();
    }
    const outcomes = await load.end();
    const failed = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [String(outcome.reason)] : [],
    );
    console.log(
      `${RESTARTS} restarts, ${outcomes.length} requests, ${failed.length} failed, ${excused} while the machine starved`,
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
      expect(count).toBeLessThanOrEqual(answered.length + excused);
    }
  },
);

/** Whether this process, like any other, had to wait for long to be run within the last two seconds. */
function watchMachine(): { now(): boolean; end(): void } {
  let last = performance.now();
  let late = Number.NEGATIVE_INFINITY;
  const look = () => {
    const now = performance.now();
    if (now - last > STARVED_MS) late = now;
    last = now;
  };
  const timer = setInterval(look, 10);
  return {
    now() {
      look();
      return last - late < 2000;
    },
    end: () => clearInterval(timer),
  };
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
