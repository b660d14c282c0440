import type { Database, Handle } from '@ori/store/database';
import { failedWith } from '@ori/store/sql-state';
import { AdminError, requireInput, translateConstraints } from '@ori/store/writes/admin-error';
import { idSchema, nameSchema, newId } from '@ori/store/writes/ids';
import { sql } from 'kysely';
import { z } from 'zod';
import { changeRow } from './change-row.ts';

const newOrganization = z.strictObject({ id: idSchema.optional(), name: nameSchema });

export async function createOrganization(
  db: Handle,
  input: z.input<typeof newOrganization>,
): Promise<{ id: string }> {
  const { id = newId('org'), name } = requireInput(newOrganization, input);
  await translateConstraints('organization', () =>
    db.kysely.insertInto('organizations').values({ id, name }).execute(),
  );
  return { id };
}

export async function renameOrganization(
  db: Handle,
  { organizationId, name }: { readonly organizationId: string; readonly name: string },
): Promise<void> {
  const change = sql`
    update organizations set name = ${requireInput(nameSchema, name)} where id = ${organizationId}`;
  await changeRow(db, `organization ${organizationId}`, change);
}

/** In turns for each window; undefined keeps a limit, null is what the signer is configured with. */
export interface TurnLimitsChange {
  readonly organizationId: string;
  readonly turnsPerUser?: number | null | undefined;
  readonly turnsPerOrganization?: number | null | undefined;
}

export async function setTurnLimits(
  { kysely }: Handle,
  { organizationId, turnsPerUser, turnsPerOrganization }: TurnLimitsChange,
): Promise<void> {
  await kysely
    .updateTable('organizations')
    .set({ turns_per_user: turnsPerUser, turns_per_organization: turnsPerOrganization })
    .where('id', '=', organizationId)
    .execute();
}

/** Deletes an organization without workspaces; a deleted workspace counts too. @throws AdminError `conflict`, `not_found` */
export async function deleteOrganization(
  db: Database,
  { organizationId }: { readonly organizationId: string },
): Promise<void> {
  const what = `organization ${organizationId}`;
  try {
    await changeRow(db, what, sql`delete from organizations where id = ${organizationId}`);
  } catch (error) {
    if (!failedWith(error, 'foreign_key_violation')) throw error;
    throw new AdminError('conflict', `${what} is not empty`, { cause: error });
  }
}

/** Makes it the default workspace instead of the current one, which may be deleted; within a transaction. */
export async function makeDefault(
  { kysely }: Handle,
  { organizationId, workspaceId }: { readonly organizationId: string; readonly workspaceId: string },
): Promise<void> {
  // Concurrent changes of the default of one organization are serialized.
  await sql`select from organizations where id = ${organizationId} for update`.execute(kysely);
  await sql`
    update workspaces set is_default = false where organization_id = ${organizationId} and is_default`.execute(
    kysely,
  );
  await sql`update workspaces set is_default = true where id = ${workspaceId}`.execute(kysely);
}

/**
 * Adds the workspace to the interns programme, or removes it. Outside the programme, every intern operation answers
 * 404.
 */
export async function setProgramme(
  db: Handle,
  { workspaceId, inProgramme }: { readonly workspaceId: string; readonly inProgramme: boolean },
): Promise<void> {
  const change = sql`update workspaces set in_programme = ${inProgramme} where id = ${workspaceId}`;
  await changeRow(db, `workspace ${workspaceId}`, change);
}

/** The operator's switch for the whole service: while it is off, every intern operation that signs answers 404. */
export async function setLifecycleWrites(
  db: Database,
  { enabled }: { readonly enabled: boolean },
): Promise<void> {
  await sql`
    insert into switches (name, enabled) values ('lifecycle_writes', ${enabled})
    on conflict (name) do update set enabled = excluded.enabled`.execute(db.kysely);
}
