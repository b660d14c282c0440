import { setTimeout as pause } from 'node:timers/promises';
import { renderJwkSet } from '@ori/proof';
import { turnKey } from '@ori/turns';
import { createLocalKeySet, createVerifier } from '@ori/verifier';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import type { Answer } from './client.ts';
import { startLoad } from './constant-load.ts';
import type { Service } from './service.ts';
import { type ShippedWorld, signingOf, startShippedWorld } from './world.ts';

/** The number of alternating restarts. Set `ROLLING_RESTARTS` for more. */
const RESTARTS = Number(process.env['ROLLING_RESTARTS'] ?? 4);
const PER_SECOND = 40;
/** The contract allows a caller to repeat a request with a retryable refusal. */
const REPEATS_MAX = 5;
const REPEAT_AFTER_MS = 200;
const BODY = Buffer.from('{"prompt":"hello"}');

test.skipIf(NGINX === undefined)(
  `no request is lost, and none is charged twice, while two signers are restarted ${RESTARTS} times in turn`,
  { timeout: 600_000 },
  async () => {
    await using world = await startShippedWorld();
    const bearer = await world.issuer.token({ expiresInSeconds: 3600 });
    const signing = signingOf(world, BODY, bearer);
    const judge = judgeOf(world);
    const refused: string[] = [];
    const load = startLoad(PER_SECOND, async () => {
      for (let repeats = 0; ; repeats += 1) {
        const answer = await world.client.ask(signing);
        const requestId = String(answer.headers['x-request-id']);
        if (answer.status === 200) {
          await judge.verify(answer.json());
          return requestId;
        }
        if (!mayBeRepeated(answer) || repeats === REPEATS_MAX)
          throw new Error(`${answer.status} ${answer.bytes}`);
        refused.push(requestId);
        await pause(REPEAT_AFTER_MS);
      }
    });
    try {
      for (let restart = 0; restart < RESTARTS; restart++) {
        const signer = world.signers[restart % 2] ?? world.signers[0];
        await signer.stop();
        await signer.start();
      }
    } finally {
      await load.end();
    }
    const outcomes = await load.end();
    const lost = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [String(outcome.reason)] : [],
    );
    console.log(
      `${RESTARTS} restarts, ${outcomes.length} requests, ${lost.length} lost, ${refused.length} repeated`,
    );
    expect(lost).toEqual([]);
    expect(world.signers.flatMap(refusedForNoReason)).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(RESTARTS * 10);

    const answered = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
    const recorded = (await world.auditLines()).map((line) => JSON.parse(line).requestId);
    // Refused requests may have been charged or recorded before they failed. There must be no other entries.
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
 * Refusals by a signer without a slow dependency since its start: starting and stopping must not cause any. On a busy machine
 * Redis or the database may exceed the signer's timeout, after which it reconnects.
 */
function refusedForNoReason({ output }: Service): string[] {
  const lines = output.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const lives: string[][] = [];
  const slow = new Set<string[]>();
  for (const { msg, status, requestId, err } of lines) {
    if (msg === 'listening') lives.push([]);
    const life = lives.at(-1);
    if (status !== 500 || life === undefined) continue;
    life.push(requestId);
    if (/timed out|timeout/i.test(String(err?.causes))) slow.add(life);
  }
  return lives.filter((life) => !slow.has(life)).flat();
}

function mayBeRepeated(answer: Answer): boolean {
  return answer.status === 500 && answer.json().error?.metadata?.retryable === true;
}

/** Verifies every answer with the library and collects the proofs that it would spend. */
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
      return verifier.verify({ method: 'POST', target: '/api/invoke', rawHeaders, body: BODY });
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
