import { randomUUID } from 'node:crypto';
import { setIcon } from '@ori/administration/icons';
import { createOrganization } from '@ori/administration/organizations';
import { createScenario, HOME, type Scenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createApiKey } from '../writes/api-keys.ts';
import { createCredential } from '../writes/byok.ts';
import { asTenant, asWriter } from './tenant.ts';

const TABLES = [
  'organizations',
  'workspaces',
  'users',
  'user_subjects',
  'members',
  'api_keys',
  'interns',
  'intern_icons',
  'byok_credentials',
  'guardrails',
  'guardrail_key_assignments',
  'guardrail_member_assignments',
  'idempotency_keys',
] as const;

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

describe('tenancy', () => {
  const store = useTestStore('postgres');
  let ours: Scenario;
  let theirs: Scenario;
  const management = () => store.as('ori_management');

  beforeAll(async () => {
    [ours, theirs] = [await createScenario(store.owner), await createScenario(store.owner)];
    for (const scenario of [ours, theirs]) await furnish(scenario);
  });

  /** At least one row in every table, for a tenant. */
  async function furnish({ organizationId, workspaceId, internId, userId }: Scenario): Promise<void> {
    const { hash } = await createApiKey(store.owner, { kind: 'api', name: 'ci', workspaceId });
    await setIcon(store.owner, { internId, bytes: PNG });
    await createCredential(store.owner, {
      id: randomUUID(),
      organization_id: organizationId,
      provider: 'openai',
      label: '...',
      sealed_key: 'sealed',
    });
    const guardrailId = randomUUID();
    await asTenant(management(), { organizationId }, async (trx) => {
      for (const statement of [
        sql`insert into guardrails (id, organization_id, workspace_id, name)
          values (${guardrailId}, ${organizationId}, ${workspaceId}, 'policy')`,
        sql`insert into guardrail_key_assignments (id, organization_id, guardrail_id, key_hash)
          values (${randomUUID()}, ${organizationId}, ${guardrailId}, ${hash})`,
        sql`insert into guardrail_member_assignments (id, organization_id, guardrail_id, user_id)
          values (${randomUUID()}, ${organizationId}, ${guardrailId}, ${userId})`,
        sql`insert into idempotency_keys (organization_id, key_hash, sealed_answer)
          values (${organizationId}, ${'0'.repeat(64)}, 'sealed')`,
      ]) {
        await statement.execute(trx);
      }
    });
  }

  const counted = (tenant: Parameters<typeof asTenant>[1]) =>
    asTenant(management(), tenant, async (trx) => {
      const counts: Record<string, number> = {};
      for (const table of TABLES) {
        const { rows } = await sql<{
          count: number;
        }>`select count(*)::integer as count from ${sql.table(table)}`.execute(trx);
        counts[table] = rows[0]?.count ?? -1;
      }
      return counts;
    });

  it('shows nothing to a transaction without a tenant', async () => {
    expect(await counted({})).toEqual(Object.fromEntries(TABLES.map((table) => [table, 0])));
  });

  it('shows nothing outside a transaction, whatever tenant the previous one on the connection had', async () => {
    await counted({ organizationId: ours.organizationId, workspaceIds: [ours.workspaceId] });
    const { rows } = await sql`select 1 from interns union all select 1 from byok_credentials`.execute(
      management().kysely,
    );
    expect(rows).toEqual([]);
  });

  it('shows an account its own rows to a query without a predicate', async () => {
    expect(await counted({ organizationId: ours.organizationId })).toMatchObject({
      organizations: 1,
      workspaces: 1,
      users: 1,
      members: 1,
      api_keys: 1,
      interns: 0,
      byok_credentials: 1,
      guardrails: 1,
      guardrail_key_assignments: 1,
      guardrail_member_assignments: 1,
      idempotency_keys: 1,
    });
  });

  it('shows a workspace its own interns and icons to a query without a predicate', async () => {
    expect(await counted({ workspaceIds: [ours.workspaceId] })).toMatchObject({
      interns: 1,
      intern_icons: 1,
    });
    expect(await counted({ workspaceIds: [ours.workspaceId], internId: theirs.internId })).toMatchObject({
      interns: 0,
    });
    expect(await counted({ workspaceIds: [ours.workspaceId, theirs.workspaceId] })).toMatchObject({
      interns: 2,
    });
  });

  it('shows a credential only its own row before its tenant is known', async () => {
    const { hash } = await createApiKey(store.owner, {
      kind: 'management',
      name: 'ops',
      organizationId: ours.organizationId,
    });
    expect(await counted({ apiKeyHash: hash })).toMatchObject({
      api_keys: 1,
      workspaces: 0,
      users: 0,
      interns: 0,
    });
    expect(await counted({ issuer: HOME.issuer, subject: ours.question.subject })).toMatchObject({
      user_subjects: 1,
      users: 1,
      members: 1,
      workspaces: 1,
      api_keys: 0,
    });
  });

  it.each(TABLES)('shows more to some tenant if the policy of %s is broken', async (table) => {
    const { hash } = await createApiKey(store.owner, {
      kind: 'api',
      name: 'ci',
      workspaceId: ours.workspaceId,
    });
    const tenants = [
      {},
      { organizationId: ours.organizationId },
      { workspaceIds: [ours.workspaceId] },
      { apiKeyHash: hash },
      { issuer: HOME.issuer, subject: ours.question.subject },
    ];
    const seen = async () => {
      const counts = await Promise.all(tenants.map(counted));
      return counts.map((rows) => rows[table]);
    };
    const policy = sql.id(`${table}_of_tenant`);
    const { rows } = await sql<{ qual: string }>`
      select qual from pg_policies where policyname = ${`${table}_of_tenant`}`.execute(store.owner.kysely);
    const before = await seen();
    await sql`alter policy ${policy} on ${sql.table(table)} using (true)`.execute(store.owner.kysely);
    const broken = await seen();
    await sql`alter policy ${policy} on ${sql.table(table)} using (${sql.raw(rows[0]?.qual ?? 'false')})`.execute(
      store.owner.kysely,
    );
    expect(broken.every((count) => (count ?? 0) >= 2)).toBe(true);
    expect(before.every((count) => (count ?? 0) < (broken[0] ?? 0))).toBe(true);
    expect(await seen()).toEqual(before);
  });

  it.each(['update', 'delete'])('does not let a tenant %s a row of another', async (verb) => {
    const statement =
      verb === 'update'
        ? sql`update guardrails set name = 'taken' returning id`
        : sql`delete from guardrails returning id`;
    const rollback = new Error('rollback');
    await expect(
      asTenant(management(), { organizationId: ours.organizationId }, async (trx) => {
        const { rows } = await statement.execute(trx);
        expect(rows).toHaveLength(1);
        throw rollback;
      }),
    ).rejects.toBe(rollback);
  });

  it('does not let a tenant move a row to another', async () => {
    await expect(
      asTenant(management(), { organizationId: ours.organizationId }, (trx) =>
        trx
          .updateTable('guardrails')
          .set({ organization_id: theirs.organizationId, workspace_id: theirs.workspaceId })
          .execute(),
      ),
    ).rejects.toMatchObject({ code: '42501' });
  });

  it('lets the writers of one account take turns, and not those of another', async () => {
    const done: string[] = [];
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    onTestFinished(() => held.resolve());
    const first = asWriter(management(), ours, async () => {
      begun.resolve();
      await held.promise;
      done.push('first');
    });
    await begun.promise;
    const second = asWriter(management(), ours, async () => void done.push('second'));
    const waiting = sql`select from pg_stat_activity
      where datname = current_database() and wait_event = 'advisory'`;
    await expect.poll(async () => (await waiting.execute(store.owner.kysely)).rows.length).toBe(1);
    await asWriter(management(), theirs, async () => void done.push('another'));
    held.resolve();
    await Promise.all([first, second]);
    expect(done).toEqual(['another', 'first', 'second']);
  });

  /** What the service may not do, whatever it asks for. The same without its policy succeeds. */
  it.each([
    [
      'api_keys_insert',
      `insert into api_keys (hash, kind, name, label, organization_id)
        values (repeat('a', 64), 'management', 'x', 'sk-...', current_setting('ori.organization_id'))`,
    ],
    ['api_keys_update', `update api_keys set name = 'taken' where kind = 'management'`],
    ['api_keys_delete', `delete from api_keys where kind = 'management'`],
    [
      'workspaces_insert',
      `insert into workspaces (id, organization_id, name, in_programme)
        values ('ws_programme', current_setting('ori.organization_id'), 'x', true)`,
    ],
    [
      'workspaces_insert',
      `insert into workspaces (id, organization_id, name, is_default)
        values ('ws_default', current_setting('ori.organization_id'), 'x', true)`,
    ],
  ])('is restricted by the policy %s: %s', async (policy, statement) => {
    const { id: organizationId } = await createOrganization(store.owner, { name: 'restricted' });
    await createApiKey(store.owner, { kind: 'management', name: 'ops', organizationId });
    const undo = new Error('undo');
    /** How many rows it changes, before it is rolled back. */
    const attempt = async () => {
      let changed = 0;
      const tried = asTenant(management(), { organizationId }, async (trx) => {
        const { numAffectedRows } = await sql.raw(statement).execute(trx);
        changed = Number(numAffectedRows);
        throw undo;
      });
      const error: unknown = await tried.catch((thrown) => thrown);
      if (error !== undo) expect(error).toMatchObject({ code: '42501' });
      return changed;
    };
    const table = policy.split('_')[0] === 'api' ? 'api_keys' : 'workspaces';
    expect(await attempt()).toBe(0);
    const { rows } = await sql<{ definition: string }>`
      select format('create policy %I on %I as restrictive for %s to ori_management %s', policyname, tablename, cmd,
        coalesce('using (' || qual || ')', 'with check (' || with_check || ')')) as definition
      from pg_policies where policyname = ${policy}`.execute(store.owner.kysely);
    await sql`drop policy ${sql.id(policy)} on ${sql.table(table)}`.execute(store.owner.kysely);
    expect(await attempt()).toBe(1);
    await sql.raw(rows[0]?.definition ?? '').execute(store.owner.kysely);
    expect(await attempt()).toBe(0);
  });
});
