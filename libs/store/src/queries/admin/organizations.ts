import { z } from 'zod';
import type { Database } from '../../database.ts';
import { AdminError, judged, requireInput } from './admin-error.ts';
import { idSchema, nameSchema, newId } from './ids.ts';

const newOrganization = z.strictObject({ id: idSchema.optional(), name: nameSchema });

export async function createOrganization(
  db: Database,
  input: z.input<typeof newOrganization>,
): Promise<{ id: string }> {
  const { id = newId('org'), name } = requireInput(newOrganization, input);
  await judged('organization', () => db.kysely.insertInto('organizations').values({ id, name }).execute());
  return { id };
}

const newWorkspace = z.strictObject({
  id: idSchema.optional(),
  organizationId: idSchema,
  name: nameSchema,
  isDefault: z.boolean().default(false),
  inProgramme: z.boolean().default(false),
});

/** An organization has at most one default workspace, and a deleted one counts. */
export async function createWorkspace(
  db: Database,
  input: z.input<typeof newWorkspace>,
): Promise<{ id: string }> {
  const {
    id = newId('ws'),
    organizationId,
    name,
    isDefault,
    inProgramme,
  } = requireInput(newWorkspace, input);
  await judged('workspace', () =>
    db.kysely
      .insertInto('workspaces')
      .values({ id, organization_id: organizationId, name, is_default: isDefault, in_programme: inProgramme })
      .execute(),
  );
  return { id };
}

/**
 * Adds the workspace to the interns programme, or removes it. Outside the programme, every intern operation answers
 * 404.
 */
export async function setProgramme(
  db: Database,
  { workspaceId, inProgramme }: { readonly workspaceId: string; readonly inProgramme: boolean },
): Promise<void> {
  const { numUpdatedRows } = await db.kysely
    .updateTable('workspaces')
    .set({ in_programme: inProgramme })
    .where('id', '=', workspaceId)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new AdminError('not_found', `no workspace ${workspaceId}`);
}

/** Marks it deleted, which hides its interns; its rows stay. */
export async function deleteWorkspace(
  db: Database,
  { workspaceId }: { readonly workspaceId: string },
): Promise<void> {
  const { numUpdatedRows } = await db.kysely
    .updateTable('workspaces')
    .set({ deleted_at: new Date() })
    .where('id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new AdminError('not_found', `no workspace ${workspaceId}`);
}

/** The operator's switch for the whole service: while it is off, every intern operation that signs answers 404. */
export async function setLifecycleWrites(
  db: Database,
  { enabled }: { readonly enabled: boolean },
): Promise<void> {
  await db.kysely
    .insertInto('switches')
    .values({ name: 'lifecycle_writes', enabled })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ enabled }))
    .execute();
}
