import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { until } from '../../../env/until.ts';
import type { Fault } from '../stage.ts';
import type { Primary } from './redis-server-faults.ts';

/** The folder of a server's files. */
export async function folderOf(admin: Redis): Promise<string> {
  const [, folder = ''] = (await admin.config('GET', 'dir')) as string[];
  return folder;
}

/** Snapshots fail, and the server is configured to refuse writes then. */
export const snapshotsFail =
  (primary: () => Primary): Fault =>
  async ({ pause, refuses }) => {
    const { admin } = primary();
    const place = join(await folderOf(admin), 'dump.rdb');
    await rm(place, { force: true });
    await mkdir(place);
    await admin.config('SET', 'save', '3600 1');
    await snapshot(admin, 'err');
    await pause(100);
    await refuses(100, 1000);
    await rm(place, { recursive: true });
    await snapshot(admin, 'ok');
    await admin.config('SET', 'save', '');
    await rm(place, { force: true });
  };

/** Retries until a snapshot ends with this status. */
function snapshot(admin: Redis, status: 'ok' | 'err'): Promise<void> {
  return until(`no snapshot ended ${status}`, async () => {
    const said = await admin.info('persistence');
    if (said.includes(`rdb_last_bgsave_status:${status}`) && said.includes('rdb_bgsave_in_progress:0'))
      return true;
    // Refused while another one is in progress.
    await admin.bgsave();
    return false;
  });
}

/**
 * Moves the append-only file to a device on which every write fails with ENOSPC. `everysec` and `no` then refuse writes;
 * under `always` the server exits and restarts from its files.
 */
export const diskFull =
  ({ server, admin }: Primary): Fault =>
  async ({ pause, random, worst, refuses }) => {
    const sync = random.pick(['always', 'everysec', 'no']);
    await admin.config('SET', 'appendfsync', sync);
    const folder = join(await folderOf(admin), 'appendonlydir');
    const next = join(folder, await nextFile(folder));
    await symlink('/dev/full', next);
    await admin.bgrewriteaof();
    await pause(500);
    await refuses(100, 1000);
    await rm(next, { force: true });
    await writeFile(next, '', { flag: 'a' });
    if (sync === 'always') {
      await server.kill();
      await server.start();
    }
    await rewrite(admin);
    worst();
  };

/** The file that a rewrite creates. */
async function nextFile(folder: string): Promise<string> {
  const numbers = (await readdir(folder)).map((name) => Number(/\.(\d+)\.incr\.aof$/.exec(name)?.[1] ?? 0));
  return `appendonly.aof.${Math.max(...numbers) + 1}.incr.aof`;
}

/** Waits until a rewrite that began after this call has given the server a writable file. */
async function rewrite(admin: Redis): Promise<void> {
  const good = /aof_rewrite_in_progress:0\s+aof_rewrite_scheduled:0[\s\S]*aof_last_write_status:ok/;
  // Refused while another one is in progress.
  await until('no rewrite begins', () => admin.bgrewriteaof().then(() => true));
  await until('the append-only file is not written again', async () =>
    good.test(await admin.info('persistence')),
  );
}
