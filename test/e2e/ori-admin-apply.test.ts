import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OperatorWorld, startOperatorWorld } from './ori-admin-world.ts';

let world: OperatorWorld;
beforeAll(async () => {
  world = await startOperatorWorld();
  const { admin, kekFile } = world;
  expect(await admin.run(['kek', 'generate', 'signer', '--out', kekFile])).toMatchObject({ exit: 0 });
  expect(await admin.run(['migrate'])).toMatchObject({ exit: 0 });
});
afterAll(() => world[Symbol.asyncDispose]());

it('makes the intern of the canary, from the file that ships', async () => {
  const file = join(import.meta.dirname, '../../deploy/prometheus/canary.yaml');
  expect(await world.admin.run(['apply', '-f', file])).toMatchObject({ exit: 0 });
  const { stdout } = await world.admin.run(['signing-key', 'list', '--json']);
  const [key, ...others] = JSON.parse(stdout).data;
  expect(others).toEqual([]);
  expect(key).toMatchObject({ intern_id: 'int_canary', expires_at: key.not_before + 90 * 86_400 });
});

// libs/internal/store tests that a team is whole or not there, and what a change of the file changes.
it('applies a file of teams, and writes nothing the second time', async () => {
  const file = join(world.room.directory, 'teams.json');
  const keysOut = join(world.room.directory, 'keys');
  const workspace = {
    name: 'Workshop',
    default: true,
    keys: ['ci'],
    members: [{ subject: 'a', name: 'Ada' }],
  };
  const organizations = ['one', 'two'].map((name) => ({ name, keys: ['console'], workspaces: [workspace] }));
  await writeFile(file, JSON.stringify({ organizations }));
  const apply = async () => {
    const run = await world.admin.run(['apply', '-f', file, '--keys-out', keysOut, '--json']);
    expect(run).toMatchObject({ exit: 0, stderr: '' });
    return JSON.parse(run.stdout).organizations.flatMap((one: { changes: string[] }) => one.changes);
  };
  const ofAnotherDatabase = join(keysOut, 'one.workshop.ci.key');
  await mkdir(keysOut);
  await writeFile(ofAnotherDatabase, 'its only copy');
  await writeFile(`${ofAnotherDatabase}.former`, 'an older one');
  expect(await apply()).toContain('+ organization');
  expect(await readFile(`${ofAnotherDatabase}.former`, 'utf8')).toBe('an older one');
  expect(await readFile(`${ofAnotherDatabase}.former.former`, 'utf8')).toBe('its only copy');
  expect(await readFile(ofAnotherDatabase, 'utf8')).toMatch(/^sk-ori-v1-/);
  const audited = () => world.query('select count(*) from admin_audit');
  const before = await audited();
  expect(await apply()).toEqual([]);
  expect(await audited()).toEqual(before);
});

it('makes another organization of a name that the file takes from one by its id', async () => {
  const file = join(world.room.directory, 'renamed.json');
  const apply = async (organizations: object[], ...options: string[]) => {
    await writeFile(file, JSON.stringify({ organizations }));
    const run = await world.admin.run(['apply', '-f', file, '--prune', '--yes', '--json', ...options]);
    return JSON.parse(run.stdout).organizations as { id: string; name: string; changes: string[] }[];
  };
  const workspaces = [{ name: 'Workshop' }];
  const [former] = await apply([{ name: 'former', workspaces }]);
  const next = [
    { name: 'former', workspaces: [] },
    { id: former?.id, name: 'renamed', workspaces },
  ];
  for (const options of [['--dry-run'], []]) {
    const changes = (await apply(next, ...options)).map((one) => [one.name, one.changes]);
    expect(Object.fromEntries(changes)).toEqual({ renamed: ['~ name'], former: ['+ organization'] });
  }
  expect((await apply(next)).flatMap((one) => one.changes)).toEqual([]);
});

it('names the line and the path of each mistake in a file', async () => {
  const file = join(world.room.directory, 'mistaken.yaml');
  await writeFile(file, 'organizations:\n  - name: x\n    worksapces: []\n');
  const { exit, stderr } = await world.admin.run(['apply', '-f', file]);
  const problem = 'Line 3: organizations.0.worksapces: unknown name, did you mean workspaces?\n';
  expect([exit === 0, stderr]).toEqual([false, expect.stringContaining(problem)]);
});

it.each([
  ['an alias of nothing', 'organizations: *none', 'Unresolved alias'],
  ['text that is not UTF-8', Buffer.from('organizations: [{ name: "Łódź" }]', 'utf16le'), 'utf-8'],
])('refuses a file with %s', async (_what, text, why) => {
  const file = join(world.room.directory, 'unreadable.yaml');
  await writeFile(file, text);
  const { exit, stderr } = await world.admin.run(['apply', '-f', file]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining(why)]);
});
