import { startDismissingPostgres } from '@ori/test-env/dismissing-postgres';
import { daemonOn, openPool, query, startLedgerServer } from '@ori/test-env/verifier/postgres-world';
import { expect, onTestFinished, test } from 'vitest';
import { createLocalKeySet } from '../../keys/local.ts';
import { createVerifier } from '../../verifier.ts';
import type { PostgresPool } from './client.ts';
import { postgresReplayStore } from './store.ts';

/** A pool whose checks of the server are held back until `release` is called. */
function holdTouches(pool: PostgresPool) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let answers = 0;
  const connect = async () => {
    const connection = await pool.connect();
    const held: typeof connection = Object.create(connection);
    held.query = async (text, values) => {
      const answer = await connection.query(text, values);
      if (text.includes('ori_replay.touch(')) {
        answers += 1;
        await released;
      }
      return answer;
    };
    held.release = (destroy) => connection.release(destroy);
    return held;
  };
  const on: PostgresPool['on'] = (event, listener) => pool.on(event, listener);
  return { pool: { options: pool.options, connect, on }, release, answers: () => answers };
}

test('a check that began before a doubt arose does not settle it', async () => {
  const server = await startLedgerServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { internId, signer, request } = await daemonOn(server);
  const held = holdTouches(openPool(server.url));
  const replay = postgresReplayStore(held.pool, { replicas: 0, timeoutMs: 5000, touchSeconds: 60 });
  onTestFinished(() => replay.close());
  const keys = createLocalKeySet(signer.jwks);
  const verifier = createVerifier({ internId, keys, replay });
  await expect.poll(held.answers, { timeout: 5000 }).toBe(1);

  await query(server.url, 'ALTER FUNCTION ori_replay.spend RENAME TO spend_elsewhere');
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  const touched = replay.touch();
  held.release();
  await touched;
  expect(held.answers()).toBe(2);
});

test('a connection that the server closes while accepting it does not end the process', async () => {
  await using server = await startDismissingPostgres();
  const replay = postgresReplayStore(openPool(server.url), {
    replicas: 0,
    timeoutMs: 5000,
    touchSeconds: 60,
  });
  onTestFinished(() => replay.close());
  replay.attach({ internId: 'int_1', maxAgeSeconds: 60, clockToleranceSeconds: 1, acceptV1: false });
  await expect(replay.touch()).rejects.toMatchObject({ code: 'replay_store_unavailable' });
});
