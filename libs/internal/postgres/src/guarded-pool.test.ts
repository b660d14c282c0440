import { inspect } from 'node:util';
import type { Database } from '@ori/store/database';
import { openPostgres } from '@ori/store/postgres';
import { signerQueries } from '@ori/store/signer';
import { startDismissingPostgres } from '@ori/test-env/dismissing-postgres';
import { createDatabase, type PostgresServer, startPostgres } from '@ori/test-env/postgres';
import { startSilentPostgres } from '@ori/test-env/silent-postgres';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGuardedPool } from './guarded-pool.ts';
import { StoreUnavailable } from './store-unavailable.ts';

const unavailable = (code: string) => ({ name: 'StoreUnavailable', code });
const QUESTION = { issuer: 'https://issuer.test', subject: 'nobody', internId: 'int_unknown' };

describe('a failing PostgreSQL', () => {
  let server: PostgresServer;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  beforeAll(async () => {
    server = await startPostgres();
    database = await createDatabase({ server });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function withStore(limits: object, work: (db: Database) => Promise<void>): Promise<void> {
    const db = openPostgres({
      url: database.signerUrl,
      statementTimeoutMs: 500,
      connectTimeoutMs: 500,
      ...limits,
    });
    try {
      await work(db);
    } finally {
      await db.close();
    }
  }

  const sockets = () =>
    process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;

  /** As many concurrent queries as there are connections, so that each connection is used. */
  const askAll = (db: Database, times: number) =>
    Promise.allSettled(Array.from({ length: times }, () => signerQueries(db).gateFacts(QUESTION)));
  const expectAllTimedOut = (results: PromiseSettledResult<unknown>[]) => {
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: unavailable('timed_out') });
    }
  };

  it('that is frozen times out on every connection, new or old, and works again once thawed', async () => {
    const before = sockets();
    await withStore({ poolMax: 3 }, async (db) => {
      await askAll(db, 3);
      await server.freeze();
      try {
        expectAllTimedOut(await askAll(db, 3)); // on the connections there are
        expectAllTimedOut(await askAll(db, 3)); // on new ones
        expectAllTimedOut(await askAll(db, 9)); // more than there may be
        // None is left half open once pg's own time limit has closed the abandoned ones.
        await expect.poll(sockets).toBe(before);
      } finally {
        await server.thaw();
      }
      for (const result of await askAll(db, 3)) expect(result).toMatchObject({ status: 'fulfilled' });
    });
  });

  it('that is frozen does not keep the process alive once the store is closed', async () => {
    const before = sockets();
    await withStore({ poolMax: 2 }, async (db) => {
      await askAll(db, 2);
      expect(sockets()).toBe(before + 2);
      await server.freeze();
    }).finally(() => server.thaw());
    expect(sockets()).toBe(before);
  });

  it('that closes every idle connection does not fail a query', async () => {
    await withStore({ poolMax: 2 }, async (db) => {
      await askAll(db, 2);
      await server.restart();
      for (const result of await askAll(db, 2)) expect(result).toMatchObject({ status: 'fulfilled' });
    });
  });

  it('that is stopped is unreachable, and works again once started', async () => {
    await withStore({}, async (db) => {
      await askAll(db, 1);
      await server.stop();
      try {
        await expect(signerQueries(db).ping()).rejects.toMatchObject(unavailable('unreachable'));
      } finally {
        await server.start();
      }
      await signerQueries(db).ping();
    });
  });

  it('that cuts a connection in the middle of a transaction fails only that transaction', async () => {
    await withStore({ poolMax: 1 }, async (db) => {
      const cut = db.kysely.transaction().execute(async (tx) => {
        await sql`select 1`.execute(tx);
        await server.restart();
        await sql`select 1`.execute(tx);
      });
      await expect(cut).rejects.toBeInstanceOf(StoreUnavailable);
      await signerQueries(db).ping();
    });
  });

  it('that freezes in the middle of a transaction gets nothing more on that connection, not even a rollback', async () => {
    await withStore({ poolMax: 1 }, async (db) => {
      let first: unknown;
      const frozen = db.kysely.transaction().execute(async (tx) => {
        await sql`select 1`.execute(tx);
        await server.freeze();
        first = await sql`select 1`.execute(tx).catch((error: unknown) => error);
        await sql`select 1`.execute(tx);
      });
      const failure = await frozen.catch((error: unknown) => error).finally(() => server.thaw());
      expect(failure).toBe(first);
      expect(first).toMatchObject(unavailable('timed_out'));
      await signerQueries(db).ping();
    });
  });

  it('that fails a transaction for its own reason is reported with that reason', async () => {
    await withStore({ poolMax: 1 }, async (db) => {
      const full = sql`do $$ begin raise 'no space left' using errcode = 'disk_full'; end $$`;
      const failed = db.transaction((tx) => full.execute(tx));
      await expect(failed).rejects.toMatchObject({ ...unavailable('refused'), cause: { code: '53100' } });
    });
  });

  it('that is slow with one statement gets a cancel request, and keeps the connection', async () => {
    await withStore({ poolMax: 1 }, async (db) => {
      const backend = async () =>
        (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db.kysely)).rows[0]?.pid;
      const before = await backend();
      await expect(sql`select pg_sleep(30)`.execute(db.kysely)).rejects.toMatchObject(
        unavailable('timed_out'),
      );
      expect(await backend()).toBe(before);
    });
  });

  it('that has no free connection refuses, and so does one that does not know the login', async () => {
    const wrong = new URL(database.signerUrl);
    wrong.password = 'canary-password';
    const db = openPostgres({ url: wrong.href });
    const refusal: unknown = await signerQueries(db)
      .ping()
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject(unavailable('refused'));
    expect(inspect(refusal, { depth: 10, showHidden: true })).not.toContain('canary-password');
    await db.close();
    const owner = openPostgres({ url: database.url });
    await sql`alter role ${sql.id(`${database.name}_signer`)} connection limit 0`.execute(owner.kysely);
    await withStore({}, async (full) => {
      await expect(signerQueries(full).ping()).rejects.toMatchObject(unavailable('refused'));
    });
    await sql`alter role ${sql.id(`${database.name}_signer`)} connection limit -1`.execute(owner.kysely);
    await owner.close();
  });

  it('waits for a free connection at most as long as configured', async () => {
    await withStore({ poolMax: 1, connectTimeoutMs: 500, statementTimeoutMs: 30_000 }, async (db) => {
      await db.kysely.connection().execute(async () => {
        await expect(signerQueries(db).ping()).rejects.toMatchObject(unavailable('timed_out'));
      });
      await signerQueries(db).ping();
    });
  });
});

it('checks an open connection again after a second, because PgBouncer can put another server behind it', async () => {
  await using database = await createDatabase();
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const check = vi.fn(async () => {});
  const times = { connectTimeoutMs: 10_000, statementTimeoutMs: 10_000 };
  const pool = createGuardedPool({ connectionString: database.signerUrl, max: 1 }, times, check);
  for (const laterMs of [0, 999]) {
    vi.advanceTimersByTime(laterMs);
    (await pool.connect()).release();
    expect(check).toHaveBeenCalledTimes(1);
  }
  vi.advanceTimersByTime(1);
  check.mockRejectedValueOnce(new StoreUnavailable('standby', 'x'));
  await expect(pool.connect()).rejects.toMatchObject(unavailable('standby'));
  expect(pool.connections().open).toBe(0);
  await pool.end();
});

it('survives a server that closes a connection while accepting it', async () => {
  await using server = await startDismissingPostgres();
  const db = openPostgres({ url: server.url, statementTimeoutMs: 500, connectTimeoutMs: 500 });
  try {
    await expect(signerQueries(db).gateFacts(QUESTION)).rejects.toMatchObject(unavailable('unreachable'));
  } finally {
    await db.close();
  }
});

it('only new connections fail while a certificate file is missing, as in the middle of its renewal', async () => {
  await using server = await startSilentPostgres();
  const db = openPostgres({ url: server.url, poolMax: 1 });
  const asked = [1, 2].map(() => signerQueries(db).gateFacts(QUESTION));
  const failed = Promise.allSettled(asked);
  await expect.poll(() => server.connections.length).toBe(1);
  await server.removeAuthority();
  // The pool then opens a connection for the second request.
  server.connections[0]?.destroy();
  for (const result of await failed) {
    expect(result).toMatchObject({ status: 'rejected', reason: unavailable('unreachable') });
  }
  await db.close();
});
