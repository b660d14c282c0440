import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '@ori/runtime/folder-lock';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../database.ts';
import { migrate } from '../migrations/migrate.ts';
import { createOrganization } from '../queries/admin/organizations.ts';
import { type EmbeddedDatabase, openPglite } from './open-pglite.ts';

const roleOf = async ({ kysely }: Pick<Database, 'kysely'>) =>
  (await sql<{ role: string }>`select current_user as role`.execute(kysely)).rows[0]?.role;

describe('one engine shared by several roles', () => {
  let db: EmbeddedDatabase;
  beforeAll(async () => {
    db = await openPglite();
    await migrate(db);
  });
  afterAll(() => db.close());

  it('runs each statement and each transaction as the role of its view, however they are mixed', async () => {
    const signer = db.as('ori_signer');
    const management = db.as('ori_management');
    const inTransaction = (view: Database) =>
      view.kysely
        .transaction()
        .execute(async (tx) => [await roleOf({ kysely: tx }), await roleOf({ kysely: tx })]);
    const rounds = Array.from({ length: 10 }, async () => [
      await Promise.all([roleOf(signer), roleOf(db), roleOf(management), inTransaction(signer)]),
      await Promise.all([inTransaction(management), roleOf(signer), inTransaction(db), roleOf(db)]),
    ]);
    for (const round of await Promise.all(rounds)) {
      expect(round).toEqual([
        ['ori_signer', 'postgres', 'ori_management', ['ori_signer', 'ori_signer']],
        [['ori_management', 'ori_management'], 'ori_signer', ['postgres', 'postgres'], 'postgres'],
      ]);
    }
  });

  it('resets the role after a failed statement', async () => {
    const signer = db.as('ori_signer');
    await expect(sql`select * from users`.execute(signer.kysely)).rejects.toMatchObject({ code: '42501' });
    expect(await roleOf(db)).toBe('postgres');
    expect(await roleOf(signer)).toBe('ori_signer');
  });

  it('rolls back a transaction that ended in an error', async () => {
    const failing = db.kysely.transaction().execute(async (tx) => {
      await createOrganization({ kysely: tx }, { id: 'org_undone', name: 'x' });
      throw new Error('undo');
    });
    await expect(failing).rejects.toThrow('undo');
    const found = await db.kysely
      .selectFrom('organizations')
      .where('id', '=', 'org_undone')
      .selectAll()
      .execute();
    expect(found).toEqual([]);
  });

  it('stays open when a view of it is closed', async () => {
    await db.as('ori_signer').close();
    expect(await roleOf(db)).toBe('postgres');
  });

  it('is unavailable once closed, for every view', async () => {
    const own = await openPglite();
    const view = own.as('ori_signer');
    await own.close();
    await own.close();
    for (const closed of [own, view]) {
      await expect(roleOf(closed)).rejects.toMatchObject({ name: 'StoreUnavailable', code: 'unreachable' });
    }
  });
});

describe('a data folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ori-pglite-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('keeps its data', async () => {
    const dataDir = join(folder, 'kept', 'data');
    const first = await openPglite({ dataDir });
    await migrate(first);
    await createOrganization(first, { id: 'org_kept', name: 'x' });
    await first.close();
    const second = await openPglite({ dataDir });
    expect((await migrate(second)).applied).toEqual([]);
    expect(await second.kysely.selectFrom('organizations').select('id').execute()).toEqual([
      { id: 'org_kept' },
    ]);
    await second.close();
  });

  it('is refused to a second process, and a second time to the same one', async () => {
    const dataDir = join(folder, 'locked');
    const first = await openPglite({ dataDir });
    await expect(openPglite({ dataDir: `${dataDir}/` })).rejects.toThrow(`in use by process ${process.pid}`);
    await first.close();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await once(child, 'spawn');
    await writeFile(`${dataDir}.lock`, String(child.pid));
    await expect(openPglite({ dataDir })).rejects.toThrow(`in use by process ${child.pid}`);
    child.kill();
    await once(child, 'exit');
    const after = await openPglite({ dataDir });
    expect(await readFile(`${dataDir}.lock`, 'utf8')).toBe(String(process.pid));
    await after.close();
  });

  it('is free after its last user crashed, even if that process had the id of this one', async () => {
    const dataDir = join(folder, 'crashed');
    for (const owner of [String(process.pid), '', 'x', '-1']) {
      await writeFile(`${dataDir}.lock`, owner);
      const release = await lockFolder(dataDir);
      await expect(lockFolder(dataDir)).rejects.toThrow('in use');
      await release();
      await release();
    }
  });
});
