import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { GateFacts, GateQuestion } from '../facts.ts';

interface Row {
  user_id: string | null;
  user_disabled: boolean;
  intern_id: string | null;
  workspace_id: string | null;
  organization_id: string | null;
  turns_per_user: number | null;
  turns_per_organization: number | null;
  in_programme: boolean | null;
  member_id: string | null;
  member_removed: boolean;
  sessions_valid_from: number | null;
  lifecycle_writes: boolean | null;
}

/** The `sub` of a token may contain a NUL, which no row contains and PostgreSQL refuses as a query parameter. */
function storable(text: string): string {
  return text.includes('\0') ? '' : text;
}

/** One round trip and always one row; every join is a primary-key lookup. */
export async function gateFacts(
  db: Database,
  { issuer, subject, internId }: GateQuestion,
): Promise<GateFacts> {
  const { rows } = await sql<Row>`
    select u.id as user_id, u.disabled_at is not null as user_disabled,
      w.intern_id, w.workspace_id, w.organization_id, w.in_programme, w.turns_per_user, w.turns_per_organization,
      m.user_id as member_id, m.removed_at is not null as member_removed, m.sessions_valid_from,
      (select enabled from switches where name = 'lifecycle_writes') as lifecycle_writes
    from (select 1) as one
    left join (
      select i.id as intern_id, w.id as workspace_id, w.organization_id, w.in_programme,
        o.turns_per_user, o.turns_per_organization
      from interns i join workspaces w on w.id = i.workspace_id join organizations o on o.id = w.organization_id
      where i.id = ${storable(internId)} and w.deleted_at is null
    ) w on true
    left join (
      select u.id, u.disabled_at
      from user_subjects s join users u on u.id = s.user_id
      where s.issuer = ${storable(issuer)} and s.subject = ${storable(subject)}
    ) u on true
    left join members m on m.workspace_id = w.workspace_id and m.user_id = u.id`.execute(db.kysely);
  return toGateFacts(rows[0]);
}

function toGateFacts(row: Row | undefined): GateFacts {
  if (row === undefined) throw new Error('the gate query returned no row');
  const { intern_id, workspace_id, organization_id } = row;
  const intern =
    intern_id === null || workspace_id === null || organization_id === null
      ? null
      : { id: intern_id, workspaceId: workspace_id, organizationId: organization_id, ...turnLimitsOf(row) };
  return {
    user: row.user_id === null ? null : { id: row.user_id, disabled: row.user_disabled },
    intern,
    inProgramme: row.in_programme === true,
    membership: row.member_id === null ? null : row.member_removed ? 'removed' : 'active',
    sessionsValidFrom: row.sessions_valid_from,
    lifecycleWritesEnabled: row.lifecycle_writes === true,
  };
}

function turnLimitsOf({ turns_per_user: user, turns_per_organization: organization }: Row) {
  if (user === null && organization === null) return {};
  return { turnLimits: { ...(user !== null && { user }), ...(organization !== null && { organization }) } };
}
