import { randomBytes } from 'node:crypto';
import { createConnection, createServer } from 'node:net';
import { freePort } from '@ori/test-env/ports';
import { type RedisServer, sharedRedisUrl, startRedis } from '@ori/test-env/redis';
import { startSentinelPair } from '@ori/test-env/redis-sentinel';
import { serve } from '@ori/test-env/serve';
import { connect, plantOldFence, reserve, userOf } from '@ori/test-env/verifier/redis-world';
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { loadRedisScripts } from '../../../libs/public/verifier/src/replay/redis/reservation.ts';
import { createTestSigner } from '../../../libs/public/verifier/src/testing/testing.ts';
import { openMember } from '../languages/run.ts';
import { installPython } from './python-environment.ts';

const PYTHON = installPython();

async function server(...args: string[]): Promise<RedisServer> {
  const started = await startRedis({ arguments: ['--repl-diskless-sync-delay', '0', ...args] });
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

/** A daemon in Python of a new intern, whose fence has passed, and one signed request to it. */
async function daemonOf(
  admin: Redis,
  url: (internId: string) => Promise<string> | string,
  { mode = 'spend' as 'spend' | 'redeem', replicas = 0 } = {},
) {
  const internId = `int_${randomBytes(6).toString('hex')}`;
  const { jwks, request } = createTestSigner({ internId });
  await plantOldFence(admin, internId).catch(() => undefined);
  const store = { store: 'redis', driver: 'psycopg', url: await url(internId), mode, replicas } as const;
  const task = { ...store, internId, jwks, answersKey: '00'.repeat(32) };
  const member = await openMember('python', PYTHON ?? '', task);
  onTestFinished(member.end);
  const signed = () => request({ path: '/api/invoke', body: '', user: 'user_1' });
  const present = async ({ rawHeaders }: ReturnType<typeof signed>) =>
    (await member.present({ target: '/api/invoke', rawHeaders: rawHeaders as string[] })).said;
  return { internId, signed, present, fresh: () => present(signed()) };
}

test.skipIf(PYTHON === undefined).each(['spend', 'redeem'] as const)(
  'the ACL of the README is enough for a daemon in Python that may %s',
  async (mode) => {
    const admin = await connect(sharedRedisUrl());
    await loadRedisScripts(admin);
    const line = mode === 'spend' ? 'ori-spending' : 'ori-redeeming';
    const daemon = await daemonOf(
      admin,
      async (internId) => {
        await userOf(line, admin, internId);
        return sharedRedisUrl().replace('redis://', `redis://${line}-${internId}:secret@`);
      },
      { mode },
    );
    const signed = daemon.signed();
    await reserve(admin, daemon.internId, signed);
    expect([await daemon.present(signed), await daemon.present(signed)]).toEqual([
      'accepted',
      'nonce_replayed',
    ]);
  },
);

test.skipIf(PYTHON === undefined)(
  'a spend in Python waits for a replica, is refused without its acknowledgement, and follows the address to another',
  async () => {
    const primary = await server();
    const replica = await server('--replicaof', '127.0.0.1', String(primary.port));
    const admin = await connect(primary.url);
    await expect.poll(() => admin.info('replication')).toMatch(/state=online,.*lag=[01]\b/);
    // One address, as of a service of Kubernetes, that leads to the primary.
    let leadsTo = primary.port;
    await using address = await serve(
      createServer((socket) => {
        const onward = createConnection(leadsTo, '127.0.0.1').on('error', () => socket.destroy());
        socket
          .on('error', () => onward.destroy())
          .pipe(onward)
          .pipe(socket);
      }),
    );
    const daemon = await daemonOf(admin, () => `redis://${address.address}`, { replicas: 1 });
    await expect.poll(daemon.fresh).toBe('accepted');
    await replica.freeze();
    expect(await daemon.fresh()).toBe('replay_store_unsafe');
    await replica.thaw();
    await expect.poll(daemon.fresh).toBe('accepted');
    await admin.config('SET', 'min-replicas-to-write', '2');
    expect(await daemon.fresh()).toBe('replay_store_unsafe');
    await admin.config('SET', 'min-replicas-to-write', '0');
    await expect.poll(daemon.fresh).toBe('accepted');
    // The former primary answers on.
    await (await connect(replica.url)).replicaof('NO', 'ONE');
    await admin.replicaof('127.0.0.1', String(replica.port));
    expect(await daemon.fresh()).toBe('replay_store_unsafe');
    leadsTo = replica.port;
    await expect.poll(daemon.fresh, { timeout: 20_000 }).toBe('accepted');
  },
);

test.skipIf(PYTHON === undefined)(
  'Sentinel leads a daemon in Python to the server it promoted, and nothing is accepted there again',
  async () => {
    await using pair = await startSentinelPair();
    // The first Sentinel never answers.
    await using silent = await serve(createServer());
    const silentPort = new URL(silent.url).port;
    const url = pair.url.replace('//', `//127.0.0.1:${silentPort},`);
    const [first] = pair.servers;
    const daemon = await daemonOf(await connect(first?.url ?? ''), () => url, { replicas: 1 });
    const accepted: ReturnType<typeof daemon.signed>[] = [];
    const once = async () => {
      const signed = daemon.signed();
      const said = await daemon.present(signed);
      if (said === 'accepted') accepted.push(signed);
      return said;
    };
    await pair.whole();
    await expect.poll(once, { timeout: 20_000 }).toBe('accepted');
    // The former primary answers on, as a replica.
    await pair.failOver(await pair.primary());
    await pair.whole();
    await expect.poll(once, { timeout: 20_000 }).toBe('accepted');
    const former = await pair.primary();
    await former.kill();
    await pair.failedOver(former);
    expect(await once()).not.toBe('accepted');
    await pair.rejoin(former);
    await pair.whole();
    await expect.poll(once, { timeout: 20_000 }).toBe('accepted');
    for (const signed of accepted) expect(await daemon.present(signed)).not.toBe('accepted');
    expect(accepted.length).toBeGreaterThan(2);
  },
  90_000,
);

test.skipIf(PYTHON === undefined)('a node of a cluster without the keys of the intern is named', async () => {
  // By default the bus port is the port plus 10,000, which may be too high.
  const node = await server('--cluster-enabled', 'yes', '--cluster-port', String(await freePort()));
  const admin = await connect(node.url);
  await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await expect.poll(() => admin.call('CLUSTER', 'INFO')).toContain('cluster_state:ok');
  const daemon = await daemonOf(admin, () => node.url);
  await expect.poll(daemon.fresh).toBe('accepted');
  const slot = String(await admin.call('CLUSTER', 'KEYSLOT', `ori:{${daemon.internId}}:spent`));
  await admin.call('CLUSTER', 'DELSLOTS', slot);
  expect(await daemon.fresh()).toBe('replay_store_unavailable');
});
