import { randomBytes } from 'node:crypto';
import { POSTGRES_REPLAY_SQL } from '@ori/verifier/postgres/schema';
import { spentKey } from '@ori/verifier/redis';
import { Redis } from 'ioredis';
import { startRedis } from '../../env/redis.ts';
import { openRoom } from '../../env/room.ts';
import type { DaemonSettings } from './cut-daemon.ts';
import { type CutTally, callThroughCuts } from './cuts.ts';
import { ask, startLedger } from './postgres-single.ts';

export const ANSWER_STORES = ['memory', 'redis', 'postgres'] as const;
export type AnswerStoreName = (typeof ANSWER_STORES)[number];

interface Place extends AsyncDisposable {
  readonly url: string;
  /** The fence is an hour old. */
  age(internId: string): Promise<void>;
  /** The last sign of life of every process is old. */
  bury(internId: string): Promise<void>;
}

const PLACES: Record<AnswerStoreName, () => Promise<Place>> = {
  memory: async () => ({ url: '', age: nothing, bury: nothing, [Symbol.asyncDispose]: nothing }),
  async redis() {
    const server = await startRedis();
    const redis = new Redis(server.url);
    return {
      url: server.url,
      async age(internId) {
        const id = /master_replid:(\w+)/.exec(await redis.info('replication'))?.[1];
        await redis.zadd(spentKey(internId), -(Date.now() / 1000 - 3600), `fence:${id}`);
      },
      async bury(internId) {
        const marks = await redis.zrangebyscore(spentKey(internId), '-inf', '(0');
        for (const mark of marks.filter((name) => name.startsWith('alive:'))) {
          await redis.zadd(spentKey(internId), -1, mark);
        }
      },
      async [Symbol.asyncDispose]() {
        redis.disconnect();
        await server[Symbol.asyncDispose]();
      },
    };
  },
  async postgres() {
    const server = await startLedger();
    await ask(server.url, POSTGRES_REPLAY_SQL);
    return {
      url: server.url,
      async age() {
        await ask(
          server.url,
          `UPDATE ori_replay.ledger SET event = ori_replay.clock() - 3600, identity = ori_replay.identity(),
             file = pg_relation_filenode('ori_replay.spent')`,
        );
      },
      bury: async () => void (await ask(server.url, 'UPDATE ori_replay.process SET seen = 0')),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};

async function nothing(): Promise<void> {}

/** Cuts the connections of `calls` calls and of the questions about them; then kills the daemon during `kills` more. */
export async function cutAnswers(
  store: AnswerStoreName,
  { calls, kills, seed }: { calls: number; kills: number; seed: string },
): Promise<{ cut: CutTally; killed: CutTally }> {
  await using place = await PLACES[store]();
  await using room = await openRoom('ori-cuts');
  const run = async (count: number, killEvery?: number): Promise<CutTally> => {
    const internId = `int_${randomBytes(8).toString('hex')}`;
    await place.age(internId);
    const daemon: DaemonSettings['store'] = store;
    return callThroughCuts({
      daemon: { store: daemon, url: place.url, internId, isOld: killEvery === undefined },
      folder: room.directory,
      calls: count,
      seed,
      onKill: () => place.bury(internId),
      ...(killEvery !== undefined && { killEvery }),
    });
  };
  return { cut: await run(calls), killed: await run(kills, 1) };
}
