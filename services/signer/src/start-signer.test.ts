import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { freePort } from '@ori/test-env/ports';
import { afterAll, expect, test } from 'vitest';
import { loadSignerConfig } from './config.ts';
import { Written } from './core/stages/evidence.ts';
import { startSigner } from './start-signer.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-start-'));
afterAll(() => rm(folder, { recursive: true }));

const config = loadSignerConfig({
  SIGNER_PORT: '0',
  SIGNER_OPS_PORT: String(await freePort()),
  SIGNER_DATABASE_URL: 'postgres://127.0.0.1:1/ori',
  SIGNER_REDIS_URL: 'redis://127.0.0.1:1',
  SIGNER_ISSUER: 'http://127.0.0.1:1',
  SIGNER_AUDIENCE: 'https://api.test/v1',
  SIGNER_KEK_FILE: '-',
  SIGNER_AUDIT_FILE: join(folder, 'audit.jsonl'),
  SIGNER_LOG_LEVEL: 'silent',
});
const ring = parseKekRing(generateKekRing('signer'));

test('a failed start leaves nothing listening', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  await expect(startSigner({ ...config, port }, { ring })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await expect(fetch(`http://127.0.0.1:${config.opsPort}/livez`)).rejects.toThrow('fetch failed');
  taken.close();
});

test('injected dependencies are not closed at the stop', async () => {
  const closed: string[] = [];
  const audit = {
    append: async (line: string) => new Written(line),
    reopen: async () => {},
    check: async () => {},
    close: async () => void closed.push('audit'),
  };
  const signer = await startSigner(config, { ring, audit });
  expect((await fetch(`${signer.opsUrl}/livez`)).status).toBe(200);
  await signer.stop();
  expect(closed).toEqual([]);
  await expect(fetch(`${signer.opsUrl}/livez`)).rejects.toThrow('fetch failed');
});

test('refuses to start without a dependency’s address or an injected one', async () => {
  const { redisUrl: _, ...withoutRedis } = config;
  await expect(startSigner(withoutRedis, { ring })).rejects.toThrow(TypeError);
});
