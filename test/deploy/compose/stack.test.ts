import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startIssuer } from '../../env/issuer.ts';
import { freePort } from '../../env/ports.ts';
import { startPostgres } from '../../env/postgres.ts';
import { shipped } from '../../env/programs.ts';
import { startRedis } from '../../env/redis.ts';
import { openRoom } from '../../env/room.ts';
import { ServerProcess } from '../../env/server-process.ts';
import { runAdmin } from '../check-config.ts';
import { prepare } from '../prepared.ts';
import { readCompose } from './compose-file.ts';

/** Real servers, set up with the output of prepare.sh and started as in compose.yaml, at other addresses. */
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const issuer = stack.use(await startIssuer({ audience: 'https://localhost:8443/v1' }));
const prepared = stack.use(await prepare(issuer.url));
const compose = readCompose(prepared.env);
const room = stack.use(await openRoom('ori-stack'));
const places = new Map<string, string>();

const placed = (text: string) =>
  [...places].reduce((placedText, [from, to]) => placedText.replaceAll(from, to), text);

beforeAll(async () => {
  const secrets = join(prepared.folder, 'secrets');
  places.set('/run/secrets', secrets).set('/data', room.directory).set('/var/lib/ori/audit', room.directory);
  const redis = stack.use(
    await startRedis({ arguments: compose.services['redis']?.command?.slice(1).map(placed) ?? [] }),
  );
  const postgres = stack.use(await startPostgres());
  const superuser = new pg.Client({ connectionString: postgres.url });
  await superuser.connect();
  for (const statement of (await prepared.secret('roles.sql')).split(';\n')) await superuser.query(statement);
  await superuser.end();
  const { hostname, port } = new URL(postgres.url);
  for (const name of [
    'owner-url',
    'operator-url',
    'signer-database-url',
    'management-database-url',
    'signer-redis-url',
  ]) {
    const text = await prepared.secret(name);
    const moved = text
      .replace('@postgres:5432', `@${hostname}:${port}`)
      .replace('@redis:6379', `@${redis.host}:${redis.port}`);
    await mkdir(join(room.directory, 'secrets'), { recursive: true });
    await writeFile(join(room.directory, 'secrets', name), moved, { mode: 0o600 });
    places.set(`${secrets}/${name}`, join(room.directory, 'secrets', name));
  }
}, 60_000);

test('the created database owner can migrate and is not a superuser', async () => {
  const { code, output } = await runAdmin(['migrate'], environment('migrate'));
  expect(output).toContain('0001');
  expect(code).toBe(0);
});

test('an operator uses a separate login, whose changes are not break-glass and which cannot migrate', async () => {
  const created = await runAdmin(['org', 'create', 'Analytical Engines'], environment('admin'));
  expect(created.code, created.output).toBe(0);
  const { output } = await runAdmin(['audit', 'list', '--json'], environment('admin'));
  expect(JSON.parse(output).data).toMatchObject([{ actor: 'operator_1', break_glass: false }]);
  expect((await runAdmin(['migrate'], environment('admin'))).code).not.toBe(0);
});

test.each(['signer-1', 'management'])('%s becomes ready with the privileges created for it', async (name) => {
  const prefix = name === 'management' ? 'MANAGEMENT' : 'SIGNER';
  const opsPort = await freePort();
  const service = new ServerProcess({
    room,
    program: process.execPath,
    arguments: [await shipped(name === 'management' ? 'management/ori-management' : 'signer/ori-signer')],
    environment: { ...environment(name), [`${prefix}_PORT`]: '0', [`${prefix}_OPS_PORT`]: String(opsPort) },
    ready: /"msg":"listening"/,
    farewell: 'KILL',
  });
  await service.start();
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
  expect(await answer.json()).toMatchObject({ status: 'ready' });
  await service.end('SIGTERM');
});

function environment(name: string): Record<string, string> {
  const given = Object.entries(compose.services[name]?.environment ?? {});
  return Object.fromEntries(given.map(([key, value]) => [key, placed(value)]));
}
