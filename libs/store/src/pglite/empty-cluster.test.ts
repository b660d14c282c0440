import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { migrate } from '../migrations/migrate.ts';
import { createOrganization } from '../queries/admin/organizations.ts';
import { keptIn } from './empty-cluster.ts';
import { openPglite } from './open-pglite.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-cluster-'));
afterAll(() => rm(folder, { recursive: true }));

/** Starts an engine, writes into it, stops it: which cluster it was, and what it held before. */
async function useOnce(cacheFolder: string) {
  const db = await openPglite({ cacheFolder });
  try {
    const { rows } = await sql<{ cluster: string }>`
      select system_identifier::text as cluster from pg_control_system()`.execute(db.kysely);
    await migrate(db);
    const organizations = await db.kysely.selectFrom('organizations').selectAll().execute();
    await createOrganization(db, { id: 'org_left', name: 'left' });
    return { cluster: rows[0]?.cluster, organizations };
  } finally {
    await db.close();
  }
}

it('starts where nothing can be read or kept', async () => {
  const taken = join(folder, 'taken');
  await writeFile(taken, '');
  expect((await useOnce(join(taken, 'cache'))).organizations).toEqual([]);
});

it('begins with the cluster that an earlier start kept, whole, and with nothing that was written to it', async () => {
  const cache = join(folder, 'cache');
  const file = await keptIn(cache);
  await mkdir(cache);
  const half = gzipSync(randomBytes(1_000_000)).subarray(0, 500_000);
  await writeFile(file, half);
  const first = await useOnce(cache);
  expect(await readdir(cache)).toEqual([basename(file)]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await useOnce(cache)).toEqual({ cluster: first.cluster, organizations: [] });
});
