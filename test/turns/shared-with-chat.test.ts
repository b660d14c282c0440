import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { turnKey } from '@ori/turns/limiter';
import type { TurnTaker } from '@ori/turns/turn';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { reasonOf, startWorld, type World } from '../env/world.ts';
import type { ChatVerdicts } from './chat-process.ts';

const USER = 6;
const ORGANIZATION = 9;
/** Longer than the test: no window ends while it runs. */
const WINDOW_SECONDS = 300;

let world: World;
let chat: ChildProcess;
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
  chat = fork(join(import.meta.dirname, 'chat-process.ts'), [redisUrl, ...limits]);
  await once(chat, 'message');
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
  chat.disconnect();
  await once(chat, 'exit');
  await world[Symbol.asyncDispose]();
});

async function chatTakes(...takers: readonly TurnTaker[]): Promise<ChatVerdicts> {
  const answered = once(chat, 'message');
  chat.send(takers);
  const [verdicts] = (await answered) as [ChatVerdicts];
  return verdicts;
}

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

it('both report the same remaining turns and reset time', async () => {
  await chatTakes(ada);
  const { headers } = await world.sign();
  const [, remaining, resets] = /^"user";r=(\d+);t=(\d+)$/.exec(String(headers['ratelimit'])) ?? [];
  expect(Number(remaining)).toBe(USER - 2);
  const [verdict] = await chatTakes(ada);
  expect(verdict?.remaining).toBe(USER - 3);
  expect(verdict?.resetSeconds).toBeLessThanOrEqual(Number(resets));
  expect(verdict?.resetSeconds).toBeGreaterThan(WINDOW_SECONDS - 60);
});

it('an organization that used up its turns in chat cannot sign, and its user is not charged', async () => {
  const others = Array.from({ length: ORGANIZATION }, (_, n) => ({ ...ada, userId: `${ada.userId}-${n}` }));
  expect((await chatTakes(...others)).every(({ allowed }) => allowed)).toBe(true);
  const refused = await world.sign();
  expect([refused.status, reasonOf(refused)]).toEqual([429, 'rate_limited']);
  expect(refused.headers['ratelimit']).toMatch(/^"organization";r=0;/);
  const elsewhere = { ...ada, organizationId: `${ada.organizationId}-other` };
  expect(await chatTakes(elsewhere)).toMatchObject([{ allowed: true, remaining: USER - 1 }]);
});

it('of turns charged concurrently by both, exactly the configured number pass', async () => {
  const [signed, verdicts] = await Promise.all([signs(USER), chatTakes(...Array(USER).fill(ada))]);
  const passed =
    signed.filter((answer) => answer === '200').length + verdicts.filter(({ allowed }) => allowed).length;
  expect(passed).toBe(USER);
  expect(signed.every((answer) => answer === '200' || answer === '429 rate_limited')).toBe(true);
});
