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
const PER_SECOND = 60;
const BODY = Buffer.from('{"prompt":"hello"}');
const ROUTE = { method: 'POST', path: '/api/invoke' };

test.skipIf(NGINX === undefined)(
  `no request is lost, and none is charged twice, while two signers are restarted ${RESTARTS} times by turns`,
  { timeout: 240_000 },
  async () => {
    await using world = await startShippedWorld();
    const bearer = await world.issuer.token({ expiresInSeconds: 3600 });
    const path = `/v1/interns/${world.demo.internId}/daemon/sign`;
    const json = { bodySha256: createHash('sha256').update(BODY).digest('hex'), route: ROUTE };
    const judge = judgeOf(world);
    const load = startLoad(PER_SECOND, async () => {
      const answer = await world.client.ask({ method: 'POST', path, bearer, json });
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.bytes}`);
      await judge.verify(answer.json());
      return answer.headers['x-request-id'];
    });
    for (let restart = 0; restart < RESTARTS; restart++) {
      const signer = world.signers[restart % 2] ?? world.signers[0];
      await signer.stop();
      await signer.start();
    }
    const outcomes = await load.end();

    const failed = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [String(outcome.reason)] : [],
    );
    expect(failed).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(RESTARTS * 10);
    expect(judge.nonces.size).toBe(outcomes.length);
    expect(await turnsOf(world)).toBe(outcomes.length);
    const recorded = (await world.auditLines()).map((line) => JSON.parse(line).requestId);
    const answered = outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value);
    expect(recorded.sort()).toEqual(answered.sort());
    console.log(`${RESTARTS} restarts, ${outcomes.length} requests, ${failed.length} failed`);
  },
);

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
