import { connect, createServer } from 'node:net';
import { problemsOfAddress } from '@ori/postgres/address';
import { openPool } from '@ori/postgres/pool';
import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { createDatabase } from '@ori/test-env/postgres';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Database } from './database.ts';
import { openPostgres } from './open-postgres.ts';

describe('a PostgreSQL', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  async function withStore(limits: object, work: (db: Database) => Promise<void>): Promise<void> {
    const db = openPostgres({ url: database.signerUrl, ...limits });
    try {
      await work(db);
    } finally {
      await db.close();
    }
  }

  it("throws the server's own error for a wrong statement, and keeps the connection", async () => {
    await withStore({ poolMax: 1 }, async (db) => {
      for (const [statement, code] of [
        ['selec 1', '42601'],
        ['select * from interns', '42501'],
      ] as const) {
        const refusal: unknown = await sql
          .raw(statement)
          .execute(db.kysely)
          .catch((error: unknown) => error);
        expect(refusal).toMatchObject({ code });
        expect(refusal).not.toBeInstanceOf(StoreUnavailable);
      }
    });
  });

  it.each([
    '',
    'canary',
    'mysql://u:canary@127.0.0.1/db',
    'postgres://u:canary password@127.0.0.1:99999/db',
    'postgres://u:canary@127.0.0.1/db?sslrootcert=/nowhere/canary',
    'postgres://u:canary@a.test,b.test:5432/db',
    'postgres://u:canary@a.test/db?host=a.test,b.test',
  ])('refuses the address %j immediately, without quoting it', (url) => {
    const open = () => openPostgres({ url });
    expect(open).toThrow(TypeError);
    expect(open).toThrow(/^url: expected postgres:/);
    expect(open).not.toThrow('canary');
  });

  it.each([
    'sslmode=no-verify',
    'ssl=no-verify',
    'uselibpqcompat=true&sslmode=prefer',
    'uselibpqcompat=true&sslmode=require',
  ])('refuses %s, which would take any certificate', (search) => {
    expect(() => openPostgres({ url: `postgres://u:canary@a.test/db?${search}` })).toThrow(
      /^url: does not verify the certificate of the server; use sslmode=verify-full, with sslrootcert=FILE/,
    );
  });

  it('refuses PGSSLMODE=no-verify too, which pg takes where the address is silent', () => {
    vi.stubEnv('PGSSLMODE', 'no-verify');
    const problems = problemsOfAddress('SIGNER_DATABASE_URL', 'postgres://u:canary@a.test/db');
    vi.unstubAllEnvs();
    expect(problems).toEqual([
      expect.stringMatching(/^SIGNER_DATABASE_URL: does not verify the certificate/),
    ]);
  });

  it('shows the name of the service, and uses the requested role', async () => {
    const options = { url: database.url, role: 'ori_signer', applicationName: 'ori-test' } as const;
    const db = openPostgres(options);
    const { rows } =
      await sql`select current_user as role, current_setting('application_name') as name`.execute(db.kysely);
    expect(rows).toEqual([{ role: 'ori_signer', name: 'ori-test' }]);
    await db.close();
    expect(() => openPostgres({ ...options, url: `${database.url}?options=-crole%3Dpostgres` })).toThrow(
      TypeError,
    );
    // @ts-expect-error not a role of the store
    expect(() => openPostgres({ ...options, role: 'ori_signer; -c x' })).toThrow(TypeError);
  });

  it('replaces a connection after half an hour, also one that is always busy', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { pool, close } = openPool({ url: database.signerUrl, poolMax: 1 });
    (await pool.connect()).release();
    for (const [ms, open] of [
      [1_799_999, 1],
      [1, 0],
    ] as const) {
      const busy = await pool.connect();
      vi.advanceTimersByTime(ms);
      busy.release();
      expect(pool.connections().open).toBe(open);
    }
    vi.useRealTimers();
    await close();
  });

  it('refuses a connection whose role or actor was ignored, as PgBouncer can', async () => {
    const proxy = createServer((client) => {
      const server = connect(Number(new URL(database.url).port), '127.0.0.1');
      client.once('data', (start) => {
        server.write(withoutOptions(start));
        client.pipe(server);
      });
      server.pipe(client).on('close', () => server.destroy());
    });
    const url = new URL(database.url);
    url.port = String((await serveInTest(proxy)).port);
    for (const wanted of [{}, { role: 'ori_signer' }, { actor: 'grace' }] as const) {
      const db = openPostgres({ url: url.href, ...wanted });
      const asked = sql`select 1`.execute(db.kysely);
      if (Object.keys(wanted).length === 0) await asked;
      else await expect(asked).rejects.toMatchObject({ code: 'refused' });
      await db.close();
    }
  });

  it('reads dates and commits transactions the same way, whatever the defaults of the database are', async () => {
    const owner = openPostgres({ url: database.url, poolMax: 1 });
    for (const setting of ["datestyle = 'German'", "default_transaction_isolation = 'repeatable read'"])
      await sql.raw(`alter database ${database.name} set ${setting}`).execute(owner.kysely);
    await owner.close();
    await withStore({}, async (db) => {
      const date = new Date('2026-11-12T06:00:00.123Z');
      const { rows } = await db.transaction((tx) =>
        sql`select ${date}::timestamptz as date, current_setting('transaction_isolation') as level`.execute(
          tx,
        ),
      );
      expect(rows).toEqual([{ date, level: 'read committed' }]);
    });
  });

  it('reads 64-bit integers as numbers while they are exact', async () => {
    await withStore({}, async (db) => {
      const { rows } =
        await sql`select 9007199254740991::int8 as exact, 9007199254740993::int8 as large`.execute(db.kysely);
      expect(rows).toEqual([{ exact: 9007199254740991, large: 9007199254740993n }]);
    });
  });
});

/** The first message of a client of PostgreSQL, without its setting `options`. */
function withoutOptions(start: Buffer): Buffer {
  const fields = start.toString('latin1', 8).split('\0');
  const at = fields.findIndex((field, index) => index % 2 === 0 && field === 'options');
  if (at >= 0) fields.splice(at, 2);
  const kept = Buffer.from(fields.join('\0'), 'latin1');
  const head = Buffer.from(start.subarray(0, 8));
  head.writeUInt32BE(8 + kept.length);
  return Buffer.concat([head, kept]);
}
