import { once } from 'node:events';
import { connectRedis } from '@ori/redis/connection';
import { Secret } from '@ori/runtime/secret';
import { createTurnLimiter } from '@ori/turns/limiter';
import type { TurnTaker } from '@ori/turns/turn';
import { answer } from '../env/worker.ts';

// Imitates the chat service's use of turns: a process that charges them through the public entry of `@ori/turns`, one turn of
// each taker, concurrently. It answers with their verdicts in the same order.

const [redisUrl = '', turnsPerUser, turnsPerOrganization, windowSeconds] = process.argv.slice(2);
const redis = connectRedis(new Secret(redisUrl), { purpose: 'chat' });
const ready = once(redis, 'ready');
const limiter = createTurnLimiter({
  redis,
  turnsPerUser: Number(turnsPerUser),
  turnsPerOrganization: Number(turnsPerOrganization),
  windowSeconds: Number(windowSeconds),
});

answer<readonly TurnTaker[]>(async (takers) => {
  await ready;
  return Promise.all(takers.map((who) => limiter.take(who)));
});
