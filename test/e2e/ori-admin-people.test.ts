import { createHash } from 'node:crypto';
import { addMember } from '@ori/administration/members';
import { createUser } from '@ori/administration/users';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reasonOf, startWorld, type World } from '../env/world.ts';
import { createOriAdmin, type OriAdmin } from './ori-admin-process.ts';

let world: World;
let admin: OriAdmin;
beforeAll(async () => {
  world = await startWorld();
  admin = createOriAdmin({ ORI_ADMIN_DATABASE_URL: world.databaseUrl, ORI_ADMIN_ISSUER: world.issuer.url });
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** The outcome of a call with this token, which the signer may have known a moment ago as something else. */
const expectSoon = (bearer: string) =>
  expect.poll(async () => {
    const answer = await world.sign({ bearer });
    return reasonOf(answer) ?? answer.status;
  });

it('revokes sessions only when confirmed, and --clear undoes it', async () => {
  const revoke = ['user', 'revoke-sessions', world.demo.userId];
  const undated = await world.token();
  const validFrom = async () => (await admin.json('user', 'list')).data[0].sessions_valid_from;

  const warned = await admin.run(revoke);
  expect(warned).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining('auth_time') });
  expect(warned.stderr).toContain('--yes');
  expect(await admin.run([...revoke, '--clear', '--before', '1'])).toMatchObject({ exit: 2 });
  expect(await validFrom()).toBeNull();
  await expectSoon(undated).toBe(200);

  const { sessions_valid_from: from, changed } = await admin.json(...revoke, '--yes');
  expect([changed, await validFrom()]).toEqual([true, from]);
  await expectSoon(undated).toBe('access_revoked');
  await expectSoon(await world.token({ claims: { auth_time: from - 1 } })).toBe(401);
  await expectSoon(await world.token({ claims: { auth_time: from } })).toBe(200);
  const earlier = await admin.run([...revoke, '--before', '0', '--yes']);
  expect(earlier).toMatchObject({ exit: 0, stderr: expect.stringContaining('nothing was changed') });

  expect(await admin.json(...revoke, '--clear')).toMatchObject({ sessions_valid_from: null, changed: true });
  await expectSoon(undated).toBe(200);
  const again = await admin.run([...revoke, '--clear']);
  expect(again).toMatchObject({ exit: 0, stderr: expect.stringContaining('No session is revoked') });
});

it('links a person to a second subject, at the issuer named, and unlinks it', async () => {
  const { userId } = world.demo;
  const bearer = await world.token({ subject: 'ada-2' });
  await admin.get('user', 'link', userId, 'ada-2', '--issuer', 'https://elsewhere.test');
  await expectSoon(bearer).toBe('not_found');
  expect(await admin.json('user', 'link', userId, 'ada-2')).toEqual({
    id: userId,
    issuer: world.issuer.url,
    subject: 'ada-2',
  });
  await expectSoon(bearer).toBe(200);
  await expectSoon(await world.token()).toBe(200);

  const { id: grace } = await createUser(world.store, { name: 'Grace' });
  const taken = await admin.run(['user', 'link', grace, 'ada-2', '--json']);
  expect(taken).toMatchObject({ exit: 4, stderr: expect.stringContaining('"conflict"') });
  await admin.get('user', 'unlink', 'ada-2');
  await expectSoon(bearer).toBe('not_found');
  expect((await admin.json('user', 'list', '--user', userId)).data[0].subjects).toEqual([
    { issuer: world.issuer.url, subject: 'ada' },
    { issuer: 'https://elsewhere.test', subject: 'ada-2' },
  ]);
});

it('prints the keys of a person that end with their access, and those that go on', async () => {
  const { organizationId: org, workspaceId: ws } = world.demo;
  const { id: user } = await createUser(world.store, { name: 'Mary' });
  const own = ['--created-by', user];
  const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
  const made = async (...args: string[]) =>
    hashOf(await admin.get('key', 'create', '--name', 'mary', ...args));
  const early = await admin.run(['key', 'create', '--name', 'x', '--kind', 'api', '--workspace', ws, ...own]);
  expect(early).toMatchObject({ exit: 2, stderr: expect.stringContaining('not a member of') });
  await addMember(world.store, { workspaceId: ws, userId: user });
  const api = await made('--kind', 'api', '--workspace', ws, ...own);
  const management = await made('--kind', 'management', '--organization', org, ...own);
  const another = hashOf(
    await admin.get('key', 'create', '--name', 'other', '--kind', 'api', '--workspace', ws),
  );
  await sql`update api_keys set created_by_key = ${management} where hash = ${another}`.execute(
    world.store.kysely,
  );

  const hashes = (keys: { hash: string }[]) => keys.map(({ hash }) => hash).sort();
  const states = ({ keys_ended, keys_remaining }: Record<string, { hash: string }[]>) => [
    hashes(keys_ended ?? []),
    hashes(keys_remaining ?? []),
  ];
  const both = [api, management].sort();
  expect(states(await admin.json('member', 'remove', ws, user))).toEqual([both, [another]]);
  await addMember(world.store, { workspaceId: ws, userId: user });
  const { stdout, stderr } = await admin.run(['user', 'disable', user]);
  expect(stdout.match(/^ended .*$/gm)).toHaveLength(2);
  expect(stdout).toMatch(new RegExp(`^remains api key ${another} sk-\\S+ "other"$`, 'm'));
  expect(stderr).toContain('ori-admin key disable');
  await admin.get('user', 'enable', user);
  expect(states(await admin.json('key', 'disable', management))).toEqual([[management], [another]]);
  await admin.get('key', 'enable', management);
  const all = [management, another].sort();
  expect(states(await admin.json('key', 'disable', management, '--with-created'))).toEqual([all, []]);
  expect(states(await admin.json('user', 'delete', user, '--yes'))).toEqual([[api], []]);
});
