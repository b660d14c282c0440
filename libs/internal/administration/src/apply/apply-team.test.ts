import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { createRoleKey } from '@ori/sealing/new-roles';
import type { Database, Handle } from '@ori/store/database';
import type { AnswerKey } from '@ori/store/facts';
import { useTestStore } from '@ori/test-env/stores';
import { type KyselyPlugin, sql } from 'kysely';
import { expect, it } from 'vitest';
import { makeAnswerKey } from '../answer-keys/answer-keys.ts';
import { createIntern, deleteIntern } from '../interns.ts';
import { createNamedIntern, createNamedKey, createNamedOrganization } from '../named.ts';
import { type ApplyOptions, applyTeam } from './apply-team.ts';
import { TeamFile } from './team.ts';

const KEY = makeAnswerKey().x;
const ISSUER = 'https://login.example.com';

const store = useTestStore('postgres');

const home = { sealer: parseKekRing(generateKekRing('signer')), lifetimeSeconds: 3600 };

/** A team of `size` people, with everything that a file can name. */
const teamOf = (name: string, size = 3) => ({
  name,
  limits: { turns_per_user: 30 },
  keys: ['console'],
  workspaces: [
    {
      name: 'Workshop',
      default: true,
      programme: true,
      members: Array.from({ length: size }, (_, index) => ({
        subject: `${name}|${index}`,
        email: `${name}-${index}@example.com`,
        name: `Person ${index}`,
      })),
      interns: [
        {
          name: 'charles',
          status: 'running' as const,
          signing_key: true,
          created_by: `${name}|0`,
          description: 'reads',
          instructions: 'read',
          model: 'anthropic/claude',
          hostname: 'charles.example.com',
          vault_id: 'vlt_1',
          attached_vault_id: 'vlt_2',
          last_failure_message: 'none',
          progress: { step_number: 2, total_steps: 5, step_label: 'Installing' },
        },
      ],
      keys: ['ci'],
    },
    { name: 'Yard', members: [{ email: `${name}-0@EXAMPLE.com` }] },
  ],
});

async function apply(
  team: object,
  { db = store.owner, ...options }: Partial<ApplyOptions> & { readonly db?: Database } = {},
) {
  const keys: string[] = [];
  const [wanted] = TeamFile.parse({ organizations: [team] }).organizations;
  if (wanted === undefined) throw new Error('no team');
  const plan = await applyTeam(db, wanted, {
    issuer: ISSUER,
    prune: false,
    dryRun: false,
    ids: [],
    home,
    deliver: ({ key }) => keys.push(key),
    ...options,
  });
  return { id: plan.organizationId, told: plan.changes.map(({ sign, what }) => `${sign} ${what}`), keys };
}

/** Every row that exists, and how often it was written. */
async function fingerprint(): Promise<string> {
  const tables = [
    'organizations',
    'workspaces',
    'users',
    'user_subjects',
    'members',
    'interns',
    'signing_keys',
  ];
  const texts: string[] = [];
  for (const table of [...tables, 'api_keys', 'admin_audit']) {
    const { rows } = await sql<{ digest: string }>`
      select count(*) || ' ' || coalesce(md5(string_agg(t::text || xmin::text, ' ' order by t::text)), '') as digest
      from ${sql.table(table)} t`.execute(store.owner.kysely);
    texts.push(`${table} ${rows[0]?.digest}`);
  }
  return texts.join('\n');
}

it('creates what the file says, and writes nothing the second time', async () => {
  const first = await apply(teamOf('first'));
  expect(first.told).toEqual([
    '+ organization',
    '~ limits',
    '+ 3 people',
    '+ workshop',
    '~ workshop: default',
    '+ workshop: 3 members',
    '+ workshop: intern charles',
    '+ workshop: intern charles: signing key',
    '+ workshop: key ci',
    '+ yard',
    '+ yard: 1 member',
    '+ management key console',
  ]);
  expect(first.keys).toHaveLength(2);
  const { rows } = await sql`
    select i.progress, u.name from interns i join users u on u.id = i.created_by_user_id
    where i.organization_id = ${first.id}`.execute(store.owner.kysely);
  const progress = { step_number: 2, total_steps: 5, step_label: 'Installing' };
  expect(rows).toEqual([{ progress, name: 'Person 0' }]);
  const before = await fingerprint();
  expect(await apply(teamOf('first'))).toEqual({ id: first.id, told: [], keys: [] });
  expect(await apply(teamOf('first'), { prune: true })).toEqual({ id: first.id, told: [], keys: [] });
  expect(await fingerprint()).toBe(before);
});

it('publishes the answer keys of an intern, one beside the other and then alone', async () => {
  const [one, other] = [makeAnswerKey().x, makeAnswerKey().x];
  const stater = { ...createRoleKey(), baseUrl: 'https://api.example.com/v1' };
  const told = async (answerKeys: readonly string[] | null | undefined, options = {}) => {
    const interns = [{ name: 'charles', answer_keys: answerKeys }];
    const { id, told } = await apply(
      { name: 'answering', workspaces: [{ name: 'Workshop', interns }] },
      options,
    );
    const { rows } = await sql<{ keys: AnswerKey[] | null }>`
      select answer_keys as keys from interns where organization_id = ${id}`.execute(store.owner.kysely);
    return { told, keys: rows[0]?.keys };
  };
  const changed = ['~ workshop: intern charles: answer_keys'];
  expect((await told([one])).keys).toEqual([{ x: one }]);
  expect(await told([one])).toEqual({ told: [], keys: [{ x: one }] });
  expect(await told(undefined)).toEqual({ told: [], keys: [{ x: one }] });
  const stated = await told([one, other], { stater });
  const statement = expect.stringMatching(/^.{86}==$/);
  expect(stated).toEqual({
    told: changed,
    keys: [
      { x: one, statement },
      { x: other, statement },
    ],
  });
  // The statement stays where nobody states.
  expect(await told([other])).toEqual({ told: changed, keys: [stated.keys?.[1]] });
  expect(await told(null)).toEqual({ told: changed, keys: null });
});

it.each([
  ['a point of small order', [`AQ${'A'.repeat(41)}`]],
  ['no point', [`Ag${'A'.repeat(41)}`]],
  ['two spellings of 32 bytes', [`${'A'.repeat(42)}B`]],
  ['the same key twice', Array.from({ length: 2 }, () => KEY)],
  ['three keys', [KEY, makeAnswerKey().x, makeAnswerKey().x]],
  ['no keys', []],
])('refuses answer keys: %s', (_, keys) => {
  const interns = [{ name: 'charles', answer_keys: keys }];
  const organizations = [{ name: 'answering', workspaces: [{ name: 'Workshop', interns }] }];
  expect(TeamFile.safeParse({ organizations }).success).toBe(false);
});

it('makes a key anew that has expired', async () => {
  const team = { name: 'expiring', keys: ['console'] };
  const { id } = await apply(team);
  await sql`update api_keys set expires_at = now() where organization_id = ${id}`.execute(store.owner.kysely);
  expect((await apply(team, { prune: true })).told).toEqual(['+ management key console']);
  expect((await apply(team, { prune: true })).told).toEqual([]);
});

it('a dry run writes nothing', async () => {
  const before = await fingerprint();
  const { told, keys } = await apply(teamOf('dry'), { dryRun: true });
  expect(told).toContain('+ organization');
  expect(keys).toEqual([]);
  expect(await fingerprint()).toBe(before);
});

it('changes what differs, and removes what is not named only with prune', async () => {
  await apply(teamOf('changing'));
  const [workshop] = teamOf('changing', 2).workspaces;
  const smaller = {
    ...teamOf('changing', 2),
    limits: { turns_per_user: null },
    keys: [],
    workspaces: [
      {
        ...workshop,
        programme: false,
        keys: [],
        interns: [{ name: 'charles', status: 'stopped', progress: null, vault_id: null }],
      },
    ],
  };
  const differences = [
    '~ limits',
    '~ workshop: programme',
    '~ workshop: intern charles: status, vault_id, progress',
  ];
  expect((await apply(smaller)).told).toEqual(differences);
  const removed = ['- workshop: 1 member', '- workshop: key ci', '- management key console', '- yard'];
  expect((await apply(smaller, { prune: true })).told).toEqual(removed);
  expect((await apply(smaller, { prune: true })).told).toEqual([]);
  expect((await apply(teamOf('changing'))).told).toContain('+ workshop: 1 member');
});

it('makes another workspace the default one', async () => {
  await apply(teamOf('default'));
  const { workspaces, ...rest } = teamOf('default');
  const moved = { ...rest, workspaces: workspaces.map((one) => ({ ...one, default: one.name === 'Yard' })) };
  expect((await apply(moved)).told).toEqual(['~ yard: default']);
  expect((await apply(moved)).told).toEqual([]);
});

it('is whole or not there, wherever it is cut', async () => {
  const full = await countStatements(teamOf('counted'));
  expect(full).toBeGreaterThan(20);
  for (let cut = 1; cut <= full; cut += 1) {
    const before = await fingerprint();
    const name = `cut-${cut}`;
    const cutting = cuttingAt(cut);
    const db = { ...store.owner, kysely: store.owner.kysely.withPlugin(cutting) };
    await expect(apply(teamOf(name), { db })).rejects.toThrow('cut');
    expect(await fingerprint()).toBe(before);
  }
  expect((await apply(teamOf('cut-1'))).told).toContain('+ organization');
});

it('stops where a name gives the slug of another workspace, and renames that one by its slug', async () => {
  const team = (workspace: object) => ({ name: 'renamed', workspaces: [workspace] });
  await apply(team({ name: 'Work Shop' }));
  const refused = { code: 'conflict', message: expect.stringContaining('slug: work-shop') };
  await expect(apply(team({ name: 'work shop' }), { prune: true })).rejects.toMatchObject(refused);
  const own = await apply(team({ name: 'work shop', slug: 'second' }));
  expect(own.told).toEqual(['+ second']);
  expect((await apply(team({ name: 'Yard', slug: 'work-shop' }))).told).toEqual(['~ work-shop: name']);
  expect((await apply(team({ name: 'Yard' }), { dryRun: true, prune: true })).told).toEqual(['- second']);
});

it('makes another workspace of a name that the file takes from one by its slug', async () => {
  const intern = (name: string) => ({ interns: [{ name, signing_key: true }] });
  await apply({ name: 'freed', workspaces: [{ name: 'Lab', slug: 'first', ...intern('charles') }] });
  const workspaces = [
    { name: 'Lab', ...intern('ada') },
    { name: 'Old lab', slug: 'first', ...intern('charles') },
  ];
  const { told } = await apply({ name: 'freed', workspaces }, { prune: true });
  const made = ['+ lab', '+ lab: intern ada', '+ lab: intern ada: signing key'];
  expect(told).toEqual([...made, '~ first: name']);
  expect((await apply({ name: 'freed', workspaces }, { prune: true })).told).toEqual([]);
});

it('stops where several workspaces have the name, and none of them its slug', async () => {
  const workspaces = [
    { name: 'Lab', slug: 'one' },
    { name: 'Lab', slug: 'two' },
  ];
  await apply({ name: 'same', workspaces });
  const unclear = apply({ name: 'same', workspaces: [{ name: 'Lab' }] });
  await expect(unclear).rejects.toMatchObject({ message: expect.stringContaining('slug: one') });
  expect((await apply({ name: 'same', workspaces })).told).toEqual([]);
});

it('stops where several interns have the name, unless the file says which, and then keeps no other', async () => {
  const team = (intern: object) => ({
    name: 'namesakes',
    workspaces: [{ name: 'Yard', interns: [{ name: 'charles', ...intern }] }],
  });
  await apply(team({ id: 'int_first' }));
  const { rows } = await sql<{ workspaceId: string }>`
    select workspace_id as "workspaceId" from interns where id = 'int_first'`.execute(store.owner.kysely);
  const { workspaceId = '' } = rows[0] ?? {};
  await createIntern(store.owner, { id: 'int_other', workspaceId, name: 'charles' });
  await expect(apply(team({ status: 'running' }))).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('int_first, int_other'),
  });
  expect((await apply(team({ id: 'int_other', status: 'running' }))).told).toEqual([
    '~ yard: intern charles: status',
  ]);
  expect((await apply(team({ id: 'int_other', status: 'running' }), { prune: true })).told).toEqual([
    '- yard: intern charles',
  ]);
  expect((await apply(team({ status: 'running' }), { prune: true })).told).toEqual([]);
});

it('says how a workspace that was removed comes back with an intern of the same id', async () => {
  const team = (workspaces: object[]) => ({ name: 'back', workspaces });
  const yard = { name: 'Yard', interns: [{ name: 'charles', id: 'int_back' }] };
  await apply(team([yard]));
  await apply(team([]), { prune: true });
  await expect(apply(team([yard]))).rejects.toThrow(
    /int_back is "charles" in ws_\w+, which is deleted: delete that intern/,
  );
  await deleteIntern(store.owner, { internId: 'int_back' });
  expect((await apply(team([yard]))).told).toEqual(['+ yard', '+ yard: intern charles']);
});

it('renames the organization that has the id of the file', async () => {
  const { id } = await apply({ name: 'of-an-id' });
  expect(await apply({ id, name: 'renamed-by-id' })).toMatchObject({ id, told: ['~ name'] });
  expect(await apply({ name: 'renamed-by-id' })).toMatchObject({ id, told: [] });
});

it.each([
  [
    'with another id',
    'moved',
    { Lab: { name: 'charles', id: 'int_other' } },
    /its id is int_moved, not int_other/,
  ],
  [
    'with another name',
    'moved',
    { Lab: { name: 'babbage', id: 'int_moved' } },
    /int_moved is "charles" in ws_\w+$/,
  ],
  ['elsewhere', 'moved', { Yard: { name: 'charles', id: 'int_moved' } }, /int_moved is "charles" in ws_/],
  [
    'of another organization',
    'new',
    { Lab: { name: 'charles', id: 'int_moved' } },
    /int_moved is "charles" in ws_\w+$/,
  ],
])('promises no intern %s', async (_where, name, wanted, message) => {
  const team = (name: string, interns: object) => ({
    name,
    workspaces: Object.entries(interns).map(([place, intern]) => ({ name: place, interns: [intern] })),
  });
  await apply(team('moved', { Lab: { name: 'charles', id: 'int_moved' } }));
  const dry = apply(team(name, wanted), { dryRun: true, prune: true });
  await expect(dry).rejects.toMatchObject({ code: 'conflict', message: expect.stringMatching(message) });
});

it('needs as many statements for a team of 20 as for one of 3, and few to see that nothing changed', async () => {
  const first = await countStatements(teamOf('of-3'));
  expect(await countStatements(teamOf('of-20', 20))).toBe(first);
  const again = await countStatements(teamOf('of-20', 20));
  expect(again).toBeLessThanOrEqual(8);
});

it('two at once make one organization', async () => {
  const [one, other] = await Promise.all([apply(teamOf('twice')), apply(teamOf('twice'))]);
  expect(one.id).toBe(other.id);
  expect([one.told.length, other.told.length].sort()).toEqual([0, 12]);
});

it.each<[string, (db: Handle, workspaceId: string) => Promise<unknown>, object]>([
  ['an organization', (db) => createNamedOrganization(db, { name: 'raced anew' }), { name: 'raced anew' }],
  [
    'an intern',
    (db, workspaceId) => createNamedIntern(db, { workspaceId, name: 'ada' }),
    { name: 'raced', workspaces: [{ name: 'Yard', interns: [{ name: 'ada' }] }] },
  ],
  [
    'a key',
    (db, workspaceId) => createNamedKey(db, { kind: 'api', workspaceId, name: 'ci' }),
    { name: 'raced', workspaces: [{ name: 'Yard', keys: ['ci'] }] },
  ],
])('makes no second one of %s that somebody creates in the same moment', async (_what, create, team) => {
  const { id } = await apply({ name: 'raced', workspaces: [{ name: 'Yard' }] });
  const yard = sql<{ id: string }>`select id from workspaces where organization_id = ${id}`;
  const workspaceId = (await yard.execute(store.owner.kysely)).rows[0]?.id ?? '';
  let applied: Promise<unknown> | undefined;
  await store.owner.kysely.transaction().execute(async (trx) => {
    await create({ kysely: trx }, workspaceId);
    applied = apply(team).catch(({ code }) => code);
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
    await expect.poll(async () => (await waiting.execute(store.owner.kysely)).rows.length).toBe(1);
  });
  expect(await applied).toBe('conflict');
  expect((await apply(team)).told).toEqual([]);
});

it.each([
  ['two workspaces of one slug', { name: 'x', workspaces: [{ name: 'A b' }, { name: 'a-b' }] }],
  [
    'two default workspaces',
    {
      name: 'x',
      workspaces: [
        { name: 'a', default: true },
        { name: 'b', default: true },
      ],
    },
  ],
  [
    'a person without subject and e-mail',
    { name: 'x', workspaces: [{ name: 'a', members: [{ name: 'Ada' }] }] },
  ],
  [
    'two interns of one id',
    {
      name: 'x',
      workspaces: [
        {
          name: 'a',
          interns: [
            { name: 'i', id: 'int' },
            { name: 'j', id: 'int' },
          ],
        },
      ],
    },
  ],
  ...['no host', 'babbage.example.com'].map((hostname): [string, object] => [
    `the host name ${hostname}`,
    { name: 'x', workspaces: [{ name: 'a', interns: [{ name: 'charles', hostname }] }] },
  ]),
  ['an unknown field', { name: 'x', budget: 5 }],
  ['a blank name', { name: ' ' }],
])('refuses a file with %s', (_what, team) => {
  expect(TeamFile.safeParse({ organizations: [team] }).success).toBe(false);
});

it('refuses an intern that a person created who is not known', async () => {
  const interns = [{ name: 'charles', created_by: 'nobody' }];
  await expect(apply({ name: 'strange', workspaces: [{ name: 'Yard', interns }] })).rejects.toMatchObject({
    code: 'not_found',
    message: 'strange: no user has the subject nobody',
  });
});

it('refuses a person who is known by e-mail address only, and is not known', async () => {
  const team = { name: 'x', workspaces: [{ name: 'a', members: [{ email: 'nobody@example.com' }] }] };
  await expect(apply(team)).rejects.toMatchObject({ code: 'not_found' });
});

it('tells of a subject that changed: of a person with an e-mail address, and of one with a name alone', async () => {
  const member = { subject: 'old', email: 'grace@example.com', name: 'Grace' };
  const team = (...members: object[]) => ({ name: 'changed', workspaces: [{ name: 'a', members }] });
  await apply(team(member, { subject: 'ada', name: 'Ada' }));
  await expect(apply(team({ ...member, subject: 'new' }))).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/e-mail address grace@example\.com does not have the subject new: add it/),
  });
  const { told } = await apply(team({ subject: 'lovelace', name: 'Ada' }), { dryRun: true });
  expect(told[0]).toBe('+ 1 person; members with another subject have the same name: Ada');
});

function cuttingAt(cut: number): KyselyPlugin & { readonly count: () => number } {
  let count = 0;
  return {
    transformQuery({ node }) {
      count += 1;
      if (count === cut) throw new Error('cut');
      return node;
    },
    transformResult: async ({ result }) => result,
    count: () => count,
  };
}

async function countStatements(team: object): Promise<number> {
  const counting = cuttingAt(-1);
  await apply(team, { db: { ...store.owner, kysely: store.owner.kysely.withPlugin(counting) } });
  return counting.count();
}
