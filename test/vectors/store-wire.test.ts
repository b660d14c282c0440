import { createHash } from 'node:crypto';
import { startRedis } from '@ori/test-env/redis';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createCallEnds } from '../../libs/public/verifier/src/replay/call-end.ts';
import { REDIS_SCRIPTS } from '../../libs/public/verifier/src/replay/redis/scripts.ts';
import { startLedgerServer } from '../wings/postgres/world.ts';
import { Replay, STORE_WIRE } from './store-wire.ts';

// Plain clients, and not the stores: what these vectors say, a client in any language can do.

test('Redis gives the answers of store-wire.json', async () => {
  const server = await startRedis();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  const known: Record<string, string> = { fence: '0' };
  for (const [name, source] of Object.entries(REDIS_SCRIPTS)) {
    await redis.call('SCRIPT', 'LOAD', source);
    known[`sha:${name}`] = createHash('sha1').update(source).digest('hex');
  }
  known['replid'] = /master_replid:(\w+)/.exec(await redis.info('replication'))?.[1] ?? '';
  for (const { title, steps } of STORE_WIRE.redis) {
    const replay = new Replay(known);
    for (const step of steps) {
      if ('do' in step) {
        replay.forget();
        continue;
      }
      const [command = '', ...args] = step.send.map((each) => replay.fill(each) as string | Buffer);
      const answer = await redis.call(String(command), ...args);
      expect(replay.fits(step.answer, answer), `${title}: ${JSON.stringify([step, answer])}`).toBe(true);
    }
  }
});

test('PostgreSQL gives the answers of store-wire.json', async () => {
  const server = await startLedgerServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const owner = new pg.Client({ connectionString: server.url });
  await owner.connect();
  onTestFinished(() => owner.end());
  for (const { title, steps } of STORE_WIRE.postgres) {
    const replay = new Replay({ event: '0', identity: '', lsn: '0/0' });
    for (const step of steps) {
      if ('do' in step) {
        replay.forget();
        continue;
      }
      const args = 'call' in step ? step.args.map((each) => replay.fill(each)) : [];
      const places = args.map((_, index) => `$${index + 1}`).join(', ');
      const text = 'call' in step ? `SELECT * FROM ori_replay.${step.call}(${places})` : step.sql;
      const { rows } = await owner.query(text, args);
      if (step.answer === undefined) continue;
      expect(replay.fits(step.answer, rows[0]), `${title}: ${JSON.stringify([step, rows])}`).toBe(true);
    }
  }
});

describe('an outcome of store-wire.json', () => {
  test.each(STORE_WIRE.outcomes)('is read: $title', ({ key, intern, nonce, user, text, is }) => {
    const policy = { internId: intern, maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };
    const ends = createCallEnds(key === undefined ? undefined : Buffer.from(key, 'hex'));
    const end = ends.parse({ policy, user, nonce }, text);
    const read = typeof end === 'string' ? end : { ...end, body: Buffer.from(end.body).toString('base64') };
    expect(read).toEqual(is);
  });
});
