import type { Handle } from '@ori/store/database';
import { requireInput } from '@ori/store/writes/admin-error';
import { nameSchema } from '@ori/store/writes/ids';
import { type RawBuilder, sql } from 'kysely';
import { changeRow } from './change-row.ts';

/** @throws AdminError `invalid_input`, `not_found` */
export async function renameWorkspace(
  db: Handle,
  { workspaceId, name }: { readonly workspaceId: string; readonly name: string },
): Promise<void> {
  const columns = sql`name = ${requireInput(nameSchema, name)}, updated_at = now()`;
  await changeWorkspace(db, workspaceId, columns);
}

/** Marks it deleted, which hides its interns; its rows stay. */
export async function deleteWorkspace(
  db: Handle,
  { workspaceId }: { readonly workspaceId: string },
): Promise<void> {
  await changeWorkspace(db, workspaceId, sql`deleted_at = now()`);
}

const changeWorkspace = (db: Handle, id: string, columns: RawBuilder<unknown>) =>
  changeRow(
    db,
    `workspace ${id}`,
    sql`update workspaces set ${columns} where id = ${id} and deleted_at is null`,
  );
