import { type RawBuilder, sql } from 'kysely';
import { IS_KEY_DISABLED } from '../key-disabled.ts';

/** Whether an API key is refused, as a column of a query. */
export const isKeyDisabled = sql.raw<boolean>(IS_KEY_DISABLED);

/** A person, and where a key is to give access: without a workspace, in the whole organization. */
interface Reach {
  readonly user: RawBuilder<unknown>;
  readonly organization: RawBuilder<unknown>;
  readonly workspace: RawBuilder<unknown>;
}

/**
 * Whether a person could do what a key does: they are a member of its workspace, or of one of the organization. Whoever
 * was never removed keeps the organization when its last workspace is deleted, and can make another.
 */
export const hasAccess = ({ user, organization, workspace }: Reach) => sql<boolean>`exists (
  select from users u join members m on m.user_id = u.id join workspaces w on w.id = m.workspace_id
  where u.id = ${user} and u.disabled_at is null and m.removed_at is null and m.organization_id = ${organization}
    and case when ${workspace} is not null then m.workspace_id = ${workspace}
      else w.deleted_at is null or not exists (
        select from members r
        where r.user_id = u.id and r.organization_id = m.organization_id and r.removed_at is not null) end)`;

/** The same of the person to whom the key `k` belongs; true for a key without a person. */
export const ownerHasAccess = sql<boolean>`(k.created_by is null or ${hasAccess({
  user: sql`k.created_by`,
  organization: sql`k.organization_id`,
  workspace: sql`k.workspace_id`,
})})`;
