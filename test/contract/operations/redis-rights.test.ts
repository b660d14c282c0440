import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startRedis } from '../../env/redis.ts';
import { startSignerWorld } from '../signer-world.ts';

const readme = readFileSync(new URL('../../../services/signer/README.md', import.meta.url), 'utf8');
const line = /^ACL SETUSER ori-signer .*$/m.exec(readme)?.[0] ?? '';

test('the signer’s Redis ACL in the README is sufficient, and permits little else', async () => {
  await using server = await startRedis();
  const admin = new Redis(server.url);
  const words = line.replace('SECRET', 'secret').split(' ').slice(1);
  await admin.call('ACL', ...(words as [string, ...string[]]));
  const url = server.url.replace('redis://', 'redis://ori-signer:secret@');
  await using world = await startSignerWorld({ redis: { url }, environment: { TURNS_PER_USER: '1' } });
  expect((await world.sign()).status).toBe(200);
  expect((await world.sign()).status).toBe(429);
  expect((await world.page('/readyz')).text).toContain('"redis":"ok"');
  const log = (await admin.call('ACL', 'LOG')) as unknown[];
  expect(log).toEqual([]);

  const signer = new Redis(url);
  for (const [command, ...args] of [
    ['SET', 'ori:{int_1}:spent', '1'],
    ['GET', 'other'],
    ['DEL', 'ori:{int_1}:issued:x'],
    ['ZADD', 'ori:{int_1}:spent', '1', 'x'],
    ['FLUSHALL'],
    ['CONFIG', 'GET', '*'],
    ['KEYS', '*'],
    ['SCRIPT', 'FLUSH'],
  ] as [string, ...string[]][]) {
    await expect(signer.call(command, ...args), command).rejects.toThrow(/NOPERM/);
  }
  signer.disconnect();
  admin.disconnect();
});
