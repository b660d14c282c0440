import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startRedis } from '../../../env/redis.ts';
import { openAdmin } from '../../../env/redis-admin.ts';
import type { Fault, Stage, World } from '../stage.ts';
import { VERIFIER_FAULTS } from './any-store.ts';
import { diskFull, folderOf } from './redis-disk-faults.ts';
import { redisServerFaults } from './redis-server-faults.ts';

export const TIMEOUT_MS = 500;

/** One server without replicas: in memory only, or with an append-only file. */
export async function redisSingle(files: 'none' | 'aof'): Promise<World> {
  const stack = new AsyncDisposableStack();
  const persistence = files === 'aof' ? ['--appendonly', 'yes'] : [];
  const server = stack.use(
    await startRedis({ arguments: ['--enable-debug-command', 'yes', ...persistence] }),
  );
  const admin = openAdmin(server.url);
  stack.defer(() => admin.disconnect());

  const killed = async ({ pause, random }: Stage): Promise<void> => {
    await server.kill();
    await pause(random.between(0, 1500));
    await server.start();
    await admin.ping();
  };
  const own: Record<string, Fault> =
    files === 'aof'
      ? {
          async 'killed, with AOF'(stage) {
            await admin.config('SET', 'appendfsync', stage.random.pick(['always', 'everysec', 'no']));
            await killed(stage);
          },
          'disk full': diskFull({ server, admin }),
        }
      : {
          async 'killed, no files'(stage) {
            await rm(join(await folderOf(admin), 'dump.rdb'), { force: true });
            await killed(stage);
          },
          /** Restores the file of a moment ago, which lacks the proofs spent since. */
          async 'killed, old file'(stage) {
            await admin.save();
            await stage.pause(stage.random.between(100, 1000));
            await killed(stage);
          },
          async 'stopped, file written'({ pause, random }) {
            await admin.config('SET', 'save', '3600 1');
            await server.stop();
            await pause(random.between(0, 500));
            await server.start();
            await admin.ping();
          },
        };
  return {
    store: { kind: 'redis', url: server.url, replicas: 0, timeoutMs: TIMEOUT_MS },
    faults: {
      ...VERIFIER_FAULTS,
      ...redisServerFaults(
        () => ({ server, admin }),
        async () => void (await admin.ping()),
      ),
      ...own,
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
