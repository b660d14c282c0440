import { createOrganization } from '@ori/administration/organizations';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from './database.ts';
import { migrate } from './migrations/migrate.ts';
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

  it('is not migrated again', async () => expect(await migrate(db)).toEqual({ applied: [] }));

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
    const view = db.as('ori_signer');
    await db.close();
    await db.close();
    for (const closed of [db, view]) {
      await expect(roleOf(closed)).rejects.toMatchObject({ name: 'StoreUnavailable', code: 'unreachable' });
    }
  });
});
