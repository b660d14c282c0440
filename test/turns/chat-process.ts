import { once } from 'node:events';
import { Secret } from '@ori/runtime/secret';
import { createTurnLimiter } from '@ori/turns/limiter';
import { connectRedis } from '@ori/turns/redis';
import type { TurnTaker, TurnVerdict } from '@ori/turns/turn';

/**
 * Imitates the chat service's use of turns: a process that charges them through the public entry of `@ori/turns`. A
 * message is a list of takers, which are charged one turn each, concurrently. The answer is their verdicts in the same order.
 */
export type ChatTurns = readonly TurnTaker[];
export type ChatVerdicts = readonly TurnVerdict[];

const [redisUrl = '', turnsPerUser, turnsPerOrganization, windowSeconds] = process.argv.slice(2);
const redis = connectRedis(new Secret(redisUrl), { purpose: 'chat' });
await once(redis, 'ready');
const limiter = createTurnLimiter({
  redis,
  turnsPerUser: Number(turnsPerUser),
  turnsPerOrganization: Number(turnsPerOrganization),
  windowSeconds: Number(windowSeconds),
});

process.on('message', (takers: ChatTurns) => {
  void Promise.all(takers.map((who) => limiter.take(who))).then((verdicts) => process.send?.(verdicts));
});
process.on('disconnect', () => redis.disconnect());
process.send?.('ready');
