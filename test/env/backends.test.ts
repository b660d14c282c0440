import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createDatabase, startPostgres } from './postgres.ts';
import { sharedRedisUrl, startRedis } from './redis.ts';

test('the run shares one Redis', async () => {
  const redis = new Redis(sharedRedisUrl());
  expect(await redis.ping()).toBe('PONG');
  redis.disconnect();
});

test('a private Redis freezes, thaws, and restarts empty on its port after a kill', async () => {
  await using server = await startRedis({ password: 'a b/c' });
  const redis = new Redis(server.url, { commandTimeout: 200, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  await redis.set('key', 'value');
  await server.freeze();
  await expect(redis.ping()).rejects.toThrow(/timed out/);
  await server.thaw();
  expect(await redis.get('key')).toBe('value');
  await server.kill();
  await server.start();
  redis.disconnect();
  const again = new Redis(server.url);
  expect(await again.get('key')).toBeNull();
  again.disconnect();
});

test('a private PostgreSQL freezes, thaws, and keeps its rows across a restart', async () => {
  await using server = await startPostgres();
  await using database = await createDatabase({ server, migrated: false });
  const client = await connected(database.url);
  await client.query('CREATE TABLE kept AS SELECT 1 AS one');
  await server.freeze();
  let answered = false;
  const pending = client.query('SELECT one FROM kept').then(() => {
    answered = true;
  });
  await expect(connected(database.url, 300)).rejects.toThrow(/timeout/);
  expect(answered).toBe(false);
  await server.thaw();
  await pending;
  await client.end();
  await server.restart();
  const again = await connected(database.url);
  expect((await again.query('SELECT one FROM kept')).rows).toEqual([{ one: 1 }]);
  await again.end();
});

async function connected(url: string, connectionTimeoutMillis = 5000): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis });
  client.on('error', () => {});
  await client.connect();
  return client;
}
