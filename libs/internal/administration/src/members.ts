import type { Handle } from '@ori/store/database';
import { requireInput } from '@ori/store/writes/admin-error';
import { idSchema } from '@ori/store/writes/ids';
import { addMembers } from '@ori/store/writes/members';
import { sql } from 'kysely';
import { z } from 'zod';
import { changeRow } from './change-row.ts';

const membership = z.strictObject({ workspaceId: idSchema, userId: idSchema });

type Membership = z.input<typeof membership>;

/** Adds the user as a member, or restores a removed one. */
export async function addMember(db: Handle, input: Membership): Promise<void> {
  const { workspaceId, userId } = requireInput(membership, input);
  await addMembers(db, { workspaceId, userIds: [userId] });
}

/**
 * The row stays, because a former member gets 403 and anyone else 404. A second removal keeps the time of the first. Only an
 * operator adds them again, or with `byAccount` the account too.
 */
export async function removeMember(
  db: Handle,
  { workspaceId, userId, byAccount = false }: Membership & { readonly byAccount?: boolean },
): Promise<void> {
  const mark = sql`removed_by_operator = removed_by_operator or ${!byAccount}`;
  const removal = sql`
    update members set removed_at = coalesce(removed_at, now()), ${mark}
    where workspace_id = ${workspaceId} and user_id = ${userId}`;
  await changeRow(db, `member ${userId} of ${workspaceId}`, removal);
}
