import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OperatorWorld, startOperatorWorld } from './ori-admin-world.ts';

/** More by hand: APPLY_TEAMS=500 APPLY_KILLS=50 npx vitest run test/e2e/ori-admin-apply.test.ts */
const TEAMS = Number(process.env['APPLY_TEAMS'] ?? 4);
const KILLS = Number(process.env['APPLY_KILLS'] ?? 2);
const PEOPLE = 20;
/** What is done for a new team. */
const CHANGES = 10;

let world: OperatorWorld;
beforeAll(async () => {
  world = await startOperatorWorld();
  const { admin, kekFile } = world;
  expect(await admin.run(['kek', 'generate', 'signer', '--out', kekFile])).toMatchObject({ exit: 0 });
  expect(await admin.run(['migrate'])).toMatchObject({ exit: 0 });
});
afterAll(() => world[Symbol.asyncDispose]());

const team = (name: string, people = PEOPLE) => ({
  name,
  limits: { turns_per_user: 30 },
  keys: ['console'],
  workspaces: [
    {
      name: 'Workshop',
      ...{ default: true, programme: true, keys: ['ci'] },
      members: Array.from({ length: people }, (_, n) => ({ subject: `${name}|${n}`, name: `Person ${n}` })),
      interns: [{ name: 'charles', status: 'running', signing_key: true }],
    },
  ],
});

const SESSIONS = `select from pg_stat_activity
  where datname = current_database() and application_name = 'ori-admin'`;

/** Applies a file of teams; `killAfterMs` ends the process with SIGKILL. */
async function apply(teams: readonly object[], killAfterMs?: number) {
  const file = join(world.room.directory, 'teams.json');
  await writeFile(file, JSON.stringify({ organizations: teams }));
  const keysOut = join(world.room.directory, 'keys');
  const startedAt = performance.now();
  const { exit, stdout, stderr } = await world.admin.run(
    ['apply', '-f', file, '--keys-out', keysOut, '--json'],
    killAfterMs === undefined ? {} : { killWhen: pause(killAfterMs) },
  );
  const tookMs = Math.round(performance.now() - startedAt);
  if (killAfterMs === undefined) expect([exit, stderr]).toEqual([0, '']);
  const changes =
    exit === 0 ? JSON.parse(stdout).organizations.map((one: { changes: [] }) => one.changes) : [];
  return { changes: changes.flat() as string[], tookMs };
}

it('makes the intern of the canary, from the file that ships', async () => {
  const file = join(import.meta.dirname, '../../deploy/prometheus/canary.yaml');
  expect(await world.admin.run(['apply', '-f', file])).toMatchObject({ exit: 0 });
  const { stdout } = await world.admin.run(['signing-key', 'list', '--json']);
  expect(JSON.parse(stdout).data).toEqual([expect.objectContaining({ intern_id: 'int_canary' })]);
});

it(`${TEAMS} teams of ${PEOPLE}: applied, applied again without a change, and with one member more`, {
  timeout: 600_000,
}, async () => {
  const teams = Array.from({ length: TEAMS }, (_, n) => team(`team ${n}`));
  const first = await apply(teams);
  expect(first.changes).toHaveLength(CHANGES * TEAMS);
  const audited = () => world.query('select count(*) from admin_audit');
  const before = await audited();
  const second = await apply(teams);
  expect(second.changes).toEqual([]);
  expect(await audited()).toEqual(before);
  const third = await apply([...teams.slice(1), team('team 0', PEOPLE + 1)]);
  expect(third.changes).toEqual(['+ 1 person', '+ workshop: 1 member']);
  console.log('apply, in ms:', first.tookMs, second.tookMs, third.tookMs);
});

it(`after kill -9 at ${KILLS} points, each organization is whole or absent, and another apply completes it`, {
  timeout: 900_000,
}, async () => {
  const teamsOf = (round: string) => Array.from({ length: 10 }, (_, n) => team(`${round} ${n}`));
  const { tookMs } = await apply(teamsOf('whole'));
  const statuses = { none: 0, some: 0, all: 0 };
  for (let point = 1; point <= KILLS; point += 1) {
    const teams = teamsOf(`cut ${point}`);
    await apply(teams, (tookMs * point) / (KILLS + 1));
    // The server may still commit what the process had sent.
    while ((await world.query(SESSIONS)).length > 0);
    const shown = await world.query<{ whole: boolean }>(`
      select turns_per_user = 30
        and (select count(*) from workspaces w where w.organization_id = o.id and is_default and in_programme) = 1
        and (select count(*) from members m where m.organization_id = o.id) = ${PEOPLE}
        and (select count(*) from interns i join signing_keys k on k.intern_id = i.id where i.organization_id = o.id) = 1
        and (select count(*) from api_keys k where k.organization_id = o.id) = 2 as whole
      from organizations o where name like 'cut ${point} %'`);
    expect(shown.every(({ whole }) => whole)).toBe(true);
    statuses[shown.length === 0 ? 'none' : shown.length < teams.length ? 'some' : 'all'] += 1;
    const rest = await apply(teams);
    expect(rest.changes).toHaveLength(CHANGES * (teams.length - shown.length));
    expect((await apply(teams)).changes).toEqual([]);
  }
  console.log('organizations there after a kill:', statuses);
});
