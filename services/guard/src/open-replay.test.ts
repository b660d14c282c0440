import { createLogger } from '@ori/runtime/log';
import { Secret } from '@ori/runtime/secret';
import { startSilentPostgres } from '@ori/test-env/silent-postgres';
import { expect, it } from 'vitest';
import { openReplay } from './open-replay.ts';

it('only refuses while a certificate file of PostgreSQL is missing, as in the middle of its renewal', async () => {
  await using server = await startSilentPostgres();
  const databaseUrl = new Secret(server.url);
  const others = { redisUrl: undefined, replayReplicas: 0, answersKey: undefined };
  const log = createLogger({ service: 'guard', level: 'silent' });
  const { store, close } = await openReplay(
    { ...others, replay: 'postgres', databaseUrl },
    { log, now: Date.now },
  );
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
  await expect.poll(() => server.connections.length).toBe(10);
  await server.removeAuthority();
  // The pool then opens a connection for the eleventh.
  server.connections[0]?.destroy();
  for (const result of await refused)
    expect(result).toMatchObject({ reason: { code: 'replay_store_unavailable' } });
  for (const connection of server.connections) connection.destroy();
  await close();
});
