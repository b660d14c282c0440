import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRoom, type Room } from '../../env/room.ts';
import { startWorld, type World } from '../../env/world.ts';
import { checkConfig, runAdmin } from '../check-config.ts';

// The services built here are the older ones. This test makes the changes that the next minor version may make to the database.
const NEWER_SCHEMA = `
  alter table signing_keys add column algorithm text not null default 'Ed25519';
  alter table users add column locale text;
  create table session_policies (id text primary key, body jsonb not null);
  grant select (algorithm) on signing_keys to ori_signer;
  grant select on session_policies to ori_signer, ori_management;
  grant all on session_policies to ori_operator;
  insert into ori_migrations (name, timestamp) values ('0999-newer', now());
  comment on table ori_migrations is '0999-newer';
`;

const stack = new AsyncDisposableStack();
let room: Room;
let world: World;

beforeAll(async () => {
  room = stack.use(await openRoom('ori-rollback'));
  world = stack.use(await startWorld({ process: true }));
});
afterAll(() => stack.disposeAsync());

const admin = (...words: string[]) => runAdmin(words, { ORI_ADMIN_DATABASE_URL: world.databaseUrl });

test('the older signer and ori-admin work on an upgraded database, and only an older migrate refuses it', async () => {
  await sql.raw(NEWER_SCHEMA).execute(world.store.kysely);
  // The signer that runs during the upgrade, then one that replaces a newer signer in a rollback.
  expect((await world.sign()).status).toBe(200);
  await world.signer.stop();
  await world.signer.start();
  await world.ready();
  expect((await world.sign()).status).toBe(200);
  expect(await admin('user', 'list')).toMatchObject({ code: 0, output: expect.stringContaining('Ada') });
  expect(await admin('user', 'disable', world.demo.userId)).toMatchObject({ code: 0 });
  expect(await admin('user', 'enable', world.demo.userId)).toMatchObject({ code: 0 });
  const migrate = await admin('migrate');
  expect(migrate.code).toBe(4);
  expect(migrate.output).toContain('0999-newer');
});

test('an older service reports each setting that only a newer one has, and starts without them', async () => {
  const file = join(room.directory, 'newer.json');
  await writeFile(file, '{}', { mode: 0o600 });
  const newer = { SIGNER_SESSION_POLICY: 'strict', SIGNER_SESSION_POLICY_FILE: file };
  const { code, output } = await checkConfig('signer', { ...world.environment, ...newer });
  expect(code).toBe(2);
  for (const name of Object.keys(newer)) expect(output).toContain(`${name}: unknown name`);
  expect(await checkConfig('signer', world.environment)).toMatchObject({ code: 0 });
});

test.each(['management', 'log', 'kms-agent'] as const)(
  'an older %s reports them too, and what to do',
  async (service) => {
    const name = `${service.toUpperCase().replace('-', '_')}_SESSION_POLICY`;
    const { code, output } = await checkConfig(service, { [name]: 'strict' });
    expect(code).toBe(2);
    expect(output).toMatch(new RegExp(`${name}: unknown name; version \\S+ has no such setting, remove it`));
  },
);
