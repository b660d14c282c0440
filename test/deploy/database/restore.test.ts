import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { createLoginCheck } from '@ori/store/login';
import { openPostgres } from '@ori/store/postgres';
import { SIGNER } from '@ori/store/privileges/signer';
import { signerQueries } from '@ori/store/signer';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDemo, type Demo } from '../../env/demo.ts';
import { createDatabase, startPostgres } from '../../env/postgres.ts';
import { shipped } from '../../env/programs.ts';
import { findProgram, openRoom, type Room } from '../../env/room.ts';
import { ROOT } from '../root.ts';

const SCRIPTS = join(ROOT, 'deploy/database');
const TOOLS = ['pg_dump', 'pg_restore', 'psql'].map((name) => findProgram(name));
const issuer = 'https://issuer.test';

describe.skipIf(TOOLS.includes(undefined))('a dump into a fresh cluster', () => {
  const stack = new AsyncDisposableStack();
  let room: Room;
  let fresh: { url: string };
  let demo: Demo;
  let dump: string;
  let admin: string;

  beforeAll(async () => {
    const startedAt = Date.now();
    room = stack.use(await openRoom('ori-restore'));
    dump = join(room.directory, 'ori.dump');
    admin = await shipped('admin/ori-admin');
    const source = stack.use(await createDatabase());
    const store = openPostgres({ url: source.url, poolMax: 1 });
    demo = await createDemo(store, { issuer, sealer: parseKekRing(generateKekRing('signer')) });
    await store.close();
    await run(['sh', join(SCRIPTS, 'backup.sh'), dump], source.url);
    const metric = readFileSync(join(room.directory, 'ori_backup.prom'), 'utf8');
    const [, seconds] = /^ori_backup_timestamp_seconds (\d+)\n$/.exec(metric) ?? [];
    expect(Number(seconds) * 1000).toBeGreaterThan(startedAt - 1000);
    // Names and memberships; the exporter of another user reads the metric.
    expect(statSync(dump).mode & 0o077).toBe(0);
    const whole = readFileSync(dump);
    const backup = run(['sh', join(SCRIPTS, 'backup.sh'), dump], 'postgres://nobody@127.0.0.1:1/ori');
    await expect(backup).rejects.toThrow('connection');
    // The database is gone: this is when the former backup is needed.
    expect(readFileSync(dump).equals(whole)).toBe(true);
    fresh = stack.use(await startPostgres());
  });
  afterAll(() => stack.disposeAsync());

  test('loses its policies if the roles do not exist, and migrate reports it', async () => {
    await using database = await createDatabase({ server: fresh, migrated: false });
    const restore = ['pg_restore', '--no-owner', '--no-privileges', `--dbname=${database.name}`, dump];
    await expect(run(restore, database.url)).rejects.toThrow('role');
    const migrating = run([process.execPath, admin, 'migrate'], database.url);
    await expect(migrating).rejects.toThrow('restored without its roles');
  });

  test('is complete with restore.sh: a signer with its own login works as before', async () => {
    await using database = await createDatabase({ server: fresh, migrated: false });
    await run(['sh', join(SCRIPTS, 'restore.sh'), dump], database.url);
    const login = new URL(database.url);
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    await owner.query("CREATE ROLE signer_1 LOGIN PASSWORD 'secret' IN ROLE ori_signer");
    Object.assign(login, { username: 'signer_1', password: 'secret' });
    const store = openPostgres({ url: login.href, check: createLoginCheck(SIGNER), poolMax: 1 });
    try {
      const signer = signerQueries(store);
      await signer.ping();
      expect(await signer.signingKeys(demo.internId)).toHaveLength(1);
      const question = { issuer, subject: 'ada', internId: demo.internId };
      expect(await signer.gateFacts(question)).toMatchObject({ membership: 'active' });
    } finally {
      await store.close();
      await owner.query('DROP ROLE signer_1');
      await owner.end();
    }
  });

  test('is complete with restore.sh for an owner who may not create roles, where they exist', async () => {
    await using database = await createDatabase({ server: fresh, migrated: false });
    const superuser = new pg.Client({ connectionString: database.url });
    await superuser.connect();
    try {
      const { rows } = await superuser.query("SELECT FROM pg_roles WHERE rolname ~ '^ori_'");
      expect(rows).toHaveLength(4);
      await superuser.query("CREATE ROLE landlord LOGIN PASSWORD 'secret'");
      await superuser.query(`ALTER DATABASE ${database.name} OWNER TO landlord`);
      const login = Object.assign(new URL(database.url), { username: 'landlord', password: 'secret' });
      await run(['sh', join(SCRIPTS, 'restore.sh'), dump], login.href);
      const policies = await superuser.query("SELECT FROM pg_policies WHERE 'ori_signer' = any (roles)");
      expect(policies.rowCount).toBeGreaterThan(0);
    } finally {
      await superuser.end();
    }
  });

  function run([program = '', ...words]: readonly string[], databaseUrl: string) {
    const { hostname, port, username, password, pathname } = new URL(databaseUrl);
    const env = {
      PATH: process.env['PATH'],
      HOME: room.directory,
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: decodeURIComponent(username),
      PGPASSWORD: decodeURIComponent(password),
      PGDATABASE: pathname.slice(1),
      METRICS_FOLDER: room.directory,
      ORI_ADMIN: `${process.execPath} ${admin}`,
      ORI_ADMIN_DATABASE_URL: databaseUrl,
    };
    return promisify(execFile)(program, words, { env });
  }
});
