import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@ori/runtime/log';
import { Secret } from '@ori/runtime/secret';
import { expect, it } from 'vitest';
import { openReplay } from './open-replay.ts';

it('only refuses while a certificate file of PostgreSQL is missing, as in the middle of its renewal', async () => {
  const authority = join(tmpdir(), `${randomUUID()}.pem`);
  await writeFile(authority, 'not read any further');
  const connections: Socket[] = [];
  const server = createServer((socket) => void connections.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const databaseUrl = new Secret(
    `postgres://u:p@127.0.0.1:${port}/db?sslmode=verify-full&sslrootcert=${authority}`,
  );
  const others = { redisUrl: undefined, replayReplicas: 0, answersKey: undefined };
  const log = createLogger({ service: 'guard', level: 'silent' });
  const { store, close } = openReplay({ ...others, replay: 'postgres', databaseUrl }, { log, now: Date.now });
  const policy = { internId: 'int_a', maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };
  const spent = Array.from({ length: 11 }, () =>
    store.spend({
      policy,
      timestamp: 1,
      nowMs: 1000,
      nonce: 'A'.repeat(22),
      signingInput: new Uint8Array(),
      v1Id: () => '00'.repeat(32),
    }),
  );
  const refused = Promise.allSettled(spent);
  await expect.poll(() => connections.length).toBe(10);
  await rm(authority);
  // The pool then opens a connection for the eleventh.
  connections[0]?.destroy();
  for (const result of await refused)
    expect(result).toMatchObject({ reason: { code: 'replay_store_unavailable' } });
  for (const connection of connections) connection.destroy();
  await close();
  server.close();
});
