import { randomBytes, randomUUID } from 'node:crypto';
import { sharedRedisUrl } from '@ori/test-env/redis';
import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { binaryScript } from './one-piece-command.ts';

const redis = new Redis(sharedRedisUrl());
afterAll(() => redis.disconnect());

const store = binaryScript(redis, "return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])");

test.each([
  ['every byte', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
  ['random bytes', randomBytes(32)],
  ['no byte', Buffer.alloc(0)],
  ['line ends', Buffer.from('\r\n$5\r\n')],
  ['text', 'two words'],
  ['text beyond ASCII', 'naïve 💥'],
  ['text beyond ASCII that fits a byte', 'é'],
])('a script gets %s unchanged', async (_name, value) => {
  const key = `one-piece:${randomUUID()}`;
  expect(await store(1, key, value, 60_000)).toBe('OK');
  expect(await redis.getBuffer(key)).toEqual(Buffer.from(value));
});

test('a key beyond ASCII beside bytes stays the same key', async () => {
  const key = `one-piece:é:${randomUUID()}`;
  await store(1, key, randomBytes(32), 60_000);
  expect(await redis.exists(key)).toBe(1);
});

test('a script that the server does not know is sent', async () => {
  const number = Math.floor(Math.random() * 1e9);
  expect(await binaryScript(redis, `return ${number}`)(0)).toBe(number);
});

test('a failure of the script is not taken for an unknown one', async () => {
  await expect(binaryScript(redis, "return redis.error_reply('WRONG')")(0)).rejects.toThrow('WRONG');
});
