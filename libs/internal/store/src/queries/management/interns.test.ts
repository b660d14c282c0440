import { useTestStore } from '@ori/test-env/stores';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOrganization, createWorkspace } from '../admin/organizations.ts';
import { type InternListing, type InternScope, listInterns, newestInterns } from './interns.ts';
import { asTenant } from './tenant.ts';

const INTERNS = 100_000;
/** Small enough for the timeout of one statement. */
const CHUNK = 5000;
const LIMIT = 100;

const store = useTestStore('postgres');
let scope: InternScope & { readonly workspaceIds: readonly [string] };

beforeAll(async () => {
  const { id: organizationId } = await createOrganization(store.owner, { name: 'large' });
  const { id: workspaceId } = await createWorkspace(store.owner, {
    organizationId,
    name: 'large',
    inProgramme: true,
  });
  scope = { workspaceIds: [workspaceId] };
  for (let first = 1; first <= INTERNS; first += CHUNK) {
    // Three interns per instant, so that pages end between interns of the same instant.
    await sql`
      insert into interns (id, organization_id, workspace_id, name, status, created_at)
      select 'int_' || n, ${organizationId}, ${workspaceId}, 'intern',
        case n % 1000 when 0 then 'failed' else 'running' end,
        timestamptz '2026-01-01' + (n / 3) * interval '1 second'
      from generate_series(${first}::integer, ${first + CHUNK - 1}::integer) n`.execute(store.owner.kysely);
  }
  await sql`analyze interns`.execute(store.owner.kysely);
}, 120_000);

interface Plan {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** Rows that the nodes reading a table or an index visited, including those they filtered out. */
function rowsRead(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), 0);
  if (!/(Index|Seq|Heap).*Scan/.test(plan['Node Type'])) return below;
  return below + (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
}

async function explain(listing: InternListing): Promise<number> {
  return asTenant(store.as('ori_management'), scope, async (trx) => {
    const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: Plan }] }>`
      explain (analyze, format json) ${newestInterns(scope, listing)}`.execute(trx);
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    if (plan === undefined) throw new Error('EXPLAIN answers one plan');
    return rowsRead(plan);
  });
}

const at = (n: number) => ({
  createdAt: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 3) * 1000).toISOString(),
  id: `int_${n}`,
});

describe('100,000 interns', () => {
  it('read only the rows that a page shows, wherever the page is', async () => {
    const pages = [undefined, at(INTERNS / 2), at(1000)];
    for (const statuses of [undefined, ['running'] as const]) {
      for (const after of pages) {
        const read = await explain({ limit: LIMIT, ...(statuses && { statuses }), ...(after && { after }) });
        expect(read).toBe(LIMIT);
      }
    }
    expect(await explain({ limit: LIMIT, statuses: ['failed'] })).toBe(INTERNS / 1000);
  });

  it('neither repeat nor miss an intern while others are created and deleted', async () => {
    const db = store.as('ori_management');
    const { rows: before } = await sql<{ id: string }>`select id from interns`.execute(store.owner.kysely);
    const seen = new Map<string, number>();
    const deleted = new Set<string>();
    let after: { createdAt: string; id: string } | undefined;
    for (let page = 0; ; page += 1) {
      const rows = await listInterns(db, scope, { limit: 5000, ...(after && { after }) });
      for (const { id } of rows) seen.set(id, (seen.get(id) ?? 0) + 1);
      const last = rows.at(-1);
      if (last === undefined) break;
      after = { createdAt: last.created_at.toISOString(), id: last.id };
      // After the position, before it, and the intern at the position.
      for (const id of [last.id, rows[0]?.id ?? '', `int_${page * 7 + 1}`]) {
        await sql`delete from interns where id = ${id}`.execute(store.owner.kysely);
        deleted.add(id);
      }
      for (const n of [INTERNS + page, page]) {
        await sql`
          insert into interns (id, organization_id, workspace_id, name, status, created_at)
          select ${`int_new_${page}_${n}`}, organization_id, workspace_id, 'new', 'running',
            timestamptz '2026-01-01' + ${n / 3} * interval '1 second'
          from interns limit 1`.execute(store.owner.kysely);
      }
    }
    expect([...seen.values()].every((times) => times === 1)).toBe(true);
    const missed = before.filter(({ id }) => !seen.has(id) && !deleted.has(id));
    expect(missed).toEqual([]);
  });
});
