import { createHash, randomUUID } from 'node:crypto';
import { createApiKey, createWorkspace, deleteWorkspace } from '@ori/store/admin';
import { createScenario, type Scenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  assign,
  KEYS,
  listAssignments,
  MEMBERS,
  unassign,
} from '../../../services/management/src/assignments/queries.ts';
import {
  changeGuardrail,
  createGuardrail,
  deleteGuardrail,
} from '../../../services/management/src/guardrails/queries.ts';
import { changeKey, deleteKey } from '../../../services/management/src/keys/queries.ts';
import {
  addWorkspaceMembers,
  listOrganizationMembers,
  removeWorkspaceMembers,
} from '../../../services/management/src/workspaces/member-queries.ts';

const ROUNDS = 60;

describe('tallies', () => {
  const store = useTestStore('postgres');
  let ours: Scenario;
  beforeAll(async () => {
    ours = await createScenario(store.owner);
  });

  /** Rows where a tally differs from what it counts. */
  async function wrong(): Promise<unknown[]> {
    const { rows } = await sql`
      with counted as (
        select g.id, g.workspace_id, octet_length(to_jsonb(g)::text)::bigint as bytes,
          (select count(*) from guardrail_key_assignments a where a.guardrail_id = g.id) as keys,
          (select count(*) from guardrail_member_assignments a where a.guardrail_id = g.id) as members
        from guardrails g
      )
      select 'guardrail' as of, coalesce(c.id, t.guardrail_id)::text as id
      from counted c full join guardrail_tallies t on t.guardrail_id = c.id
      where (c.workspace_id, c.bytes, c.keys, c.members) is distinct from
        (t.workspace_id, t.bytes, t.key_assignments, t.member_assignments)
      union all
      select 'workspace', workspace_id from workspace_tallies t
      where (guardrails, guardrail_bytes, key_assignments, member_assignments, members) is distinct from (
        select (count(*), coalesce(sum(bytes), 0)::bigint, coalesce(sum(keys), 0)::bigint,
          coalesce(sum(members), 0)::bigint, (
            select count(*) from members m where m.workspace_id = t.workspace_id and m.removed_at is null))
        from counted c where c.workspace_id = t.workspace_id)
      union all
      select 'keys', w.id from workspaces w left join workspace_tallies t on t.workspace_id = w.id
      where (coalesce(t.keys, 0), coalesce(t.enabled_keys, 0)) is distinct from (
        select (count(*), count(*) filter (where disabled_at is null)) from api_keys k where k.workspace_id = w.id)`.execute(
      store.owner.kysely,
    );
    return rows;
  }

  it('equal what they count after any sequence of changes, also those of an operator', async () => {
    const { organizationId, workspaceId, userId } = ours;
    const account = { organizationId };
    const db = store.as('ori_management');
    const { id: other } = await createWorkspace(store.owner, { organizationId, name: 'other' });
    const keys: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      keys.push((await createApiKey(store.owner, { kind: 'api', name: `key ${n}`, workspaceId })).hash);
    }
    const guardrails: string[] = [];
    const draw = (round: number, of: number) =>
      createHash('sha256').update(`${round} ${of}`).digest().readUInt32BE(0) % of;
    for (let round = 0; round < ROUNDS; round += 1) {
      const guardrailId = guardrails[draw(round, Math.max(1, guardrails.length))] ?? randomUUID();
      const targets = keys.filter((_, index) => (round + index) % 3 > 0);
      const assignedBy = null;
      switch (draw(round, 10)) {
        case 0:
        case 1: {
          const place = round % 2 === 0 ? workspaceId : other;
          const created = await createGuardrail(db, account, place, { name: `g${round}` });
          if (created) guardrails.push(created.id);
          break;
        }
        case 2:
          await changeGuardrail(db, account, guardrailId, { description: 'x'.repeat(round) });
          break;
        case 3:
        case 4:
          await assign(db, account, KEYS, { guardrailId, targets, assignedBy });
          break;
        case 5:
          await assign(db, account, MEMBERS, { guardrailId, targets: [userId], assignedBy });
          break;
        case 6:
          await removeWorkspaceMembers(db, account, workspaceId, [userId]);
          break;
        case 7:
          await addWorkspaceMembers(db, account, workspaceId, [userId]);
          await addWorkspaceMembers(db, account, other, [userId]);
          break;
        case 8:
          await unassign(db, account, KEYS, { guardrailId, targets });
          break;
        default:
          if (round % 3 === 0) await deleteGuardrail(db, account, guardrailId);
          else
            await sql`update guardrails set workspace_id = ${other} where id = ${guardrailId}`.execute(
              store.owner.kysely,
            );
      }
      expect(await wrong(), `round ${round}`).toEqual([]);
    }
    await changeKey(db, account, keys[1] ?? '', { disabled: true });
    await changeKey(db, account, keys[2] ?? '', { disabled: true });
    await changeKey(db, account, keys[2] ?? '', { disabled: false });
    expect(await wrong()).toEqual([]);
    await sql`update api_keys set workspace_id = ${other} where hash = ${keys[1]}`.execute(
      store.owner.kysely,
    );
    await deleteKey(db, account, keys[3] ?? '');
    await createApiKey(store.owner, { kind: 'management', name: 'ops', organizationId });
    await sql`delete from api_keys where hash = ${keys[0]}`.execute(store.owner.kysely);
    await sql`delete from users where id = ${userId}`.execute(store.owner.kysely);
    expect(await wrong()).toEqual([]);
    await sql`delete from guardrails`.execute(store.owner.kysely);
    expect(await wrong()).toEqual([]);
  });

  it('follow the deletion of a guardrail with more assignments than one statement deletes', async () => {
    const { organizationId, workspaceId } = ours;
    const account = { organizationId };
    const db = store.as('ori_management');
    const id = (await createGuardrail(db, account, workspaceId, { name: 'large' }))?.id ?? '';
    const hash = sql`encode(sha256(convert_to('large' || n, 'UTF8')), 'hex')`;
    await sql`insert into api_keys (hash, kind, name, label, organization_id, workspace_id)
      select ${hash}, 'api', 'k', 'sk-...', ${organizationId}, ${workspaceId} from generate_series(1, 5001) n`.execute(
      store.owner.kysely,
    );
    await sql`insert into guardrail_key_assignments (id, organization_id, guardrail_id, key_hash)
      select md5('large' || n)::uuid, ${organizationId}, ${id}, ${hash} from generate_series(1, 5001) n`.execute(
      store.owner.kysely,
    );
    expect(await wrong()).toEqual([]);
    expect(await deleteGuardrail(db, account, id)).toBe(true);
    expect(await wrong()).toEqual([]);
  });

  it('count a person of several workspaces once, up to 10,000 memberships', async () => {
    const { organizationId, workspaceId, userId } = await createScenario(store.owner);
    const account = { organizationId };
    const db = store.as('ori_management');
    const { id: other } = await createWorkspace(store.owner, { organizationId, name: 'second' });
    await addWorkspaceMembers(db, account, other, [userId]);
    const total = async () => (await listOrganizationMembers(db, account, { offset: 0, limit: 1 })).total;
    expect(await total()).toBe(1);
    await sql`update workspace_tallies set members = 10000 where workspace_id = ${workspaceId}`.execute(
      store.owner.kysely,
    );
    expect(await total()).toBe(10_001);
    await deleteWorkspace(store.owner, { workspaceId });
    expect(await total()).toBe(1);
  });

  it('leave out what belongs to a deleted workspace', async () => {
    const { organizationId } = ours;
    const account = { organizationId };
    const db = store.as('ori_management');
    const { id: workspaceId } = await createWorkspace(store.owner, { organizationId, name: 'short-lived' });
    const { hash } = await createApiKey(store.owner, { kind: 'management', name: 'ops', organizationId });
    const guardrail = await createGuardrail(db, account, workspaceId, { name: 'policy' });
    await assign(db, account, KEYS, {
      guardrailId: guardrail?.id ?? '',
      targets: [hash],
      assignedBy: null,
    });
    const page = { offset: 0, limit: 10 };
    expect(await listAssignments(db, account, KEYS, page)).toMatchObject({
      total: 1,
      rows: [{ key_hash: hash }],
    });
    await deleteWorkspace(store.owner, { workspaceId });
    expect(await listAssignments(db, account, KEYS, page)).toEqual({ total: 0, rows: [] });
  });
});
