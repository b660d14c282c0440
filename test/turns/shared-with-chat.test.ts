import { join } from 'node:path';
import { turnKey } from '@ori/turns/limiter';
import type { TurnTaker, TurnVerdict } from '@ori/turns/turn';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startWorker, type Worker } from '../env/worker.ts';
import { reasonOf, startWorld, type World } from '../env/world.ts';

const USER = 6;
const ORGANIZATION = 9;
/** Longer than the test: no window ends while it runs. */
const WINDOW_SECONDS = 300;

let world: World;
let chat: Worker<readonly TurnTaker[], readonly TurnVerdict[]>;
let ada: TurnTaker;

beforeAll(async () => {
  world = await startWorld({
    environment: {
      TURNS_PER_USER: String(USER),
      TURNS_PER_ORGANIZATION: String(ORGANIZATION),
      TURN_WINDOW_SECONDS: String(WINDOW_SECONDS),
    },
  });
  const redisUrl = world.environment['SIGNER_REDIS_URL'] ?? '';
  const limits = [USER, ORGANIZATION, WINDOW_SECONDS].map(String);
  chat = startWorker(join(import.meta.dirname, 'chat-process.ts'), [redisUrl, ...limits]);
});
beforeEach(async () => {
  const { userId, organizationId } = world.demo;
  ada = { userId, organizationId };
  const redis = new Redis(world.environment['SIGNER_REDIS_URL'] ?? '');
  await redis.del(turnKey('user', userId));
  await redis.del(turnKey('organization', organizationId));
  await redis.quit();
});
afterAll(async () => {
  await chat[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const chatTakes = (...takers: readonly TurnTaker[]) => chat.ask(takers);

/** The status and reason of `count` concurrent signing requests. */
async function signs(count: number): Promise<string[]> {
  const replies = await Promise.all(Array.from({ length: count }, () => world.sign()));
  return replies.map((reply) => (reply.status === 200 ? '200' : `${reply.status} ${reasonOf(reply)}`)).sort();
}

it('a turn taken by chat is no longer available for signing, and vice versa', async () => {
  const [first] = await chatTakes(ada, ada, ada, ada);
  expect(first?.allowed).toBe(true);
  expect(await signs(USER - 4)).toEqual(['200', '200']);
  expect(await signs(1)).toEqual(['429 rate_limited']);
  expect(await chatTakes(ada)).toMatchObject([{ allowed: false, scope: 'user', remaining: 0 }]);
});

it('of turns charged concurrently by both, exactly the configured number pass', async () => {
  const [signed, verdicts] = await Promise.all([signs(USER), chatTakes(...Array(USER).fill(ada))]);
  const passed =
    signed.filter((answer) => answer === '200').length + verdicts.filter(({ allowed }) => allowed).length;
  expect(passed).toBe(USER);
  expect(signed.every((answer) => answer === '200' || answer === '429 rate_limited')).toBe(true);
});
