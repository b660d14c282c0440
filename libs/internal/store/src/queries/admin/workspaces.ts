import { type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import type { Handle } from '../../database.ts';
import { AdminError, judged, requireInput } from './admin-error.ts';
import { changeRow } from './change-row.ts';
import { descriptionSchema, distinctSlugOf, idSchema, nameSchema, newId, slugOf, slugSchema } from './ids.ts';

const newWorkspace = z.strictObject({
  id: idSchema.optional(),
  organizationId: idSchema,
  name: nameSchema,
  slug: slugSchema.optional(),
  description: descriptionSchema.optional(),
  isDefault: z.boolean().default(false),
  inProgramme: z.boolean().default(false),
  createdBy: idSchema.nullish(),
});

/**
 * An organization has at most one default workspace, and a deleted one counts. Its slug, by default derived from the
 * name, is unique among the workspaces that are not deleted; where another name gave that one, it carries a digest.
 */
export async function createWorkspace(
  db: Handle,
  input: z.input<typeof newWorkspace>,
): Promise<{ id: string }> {
  const wanted = requireInput(newWorkspace, input);
  const id = wanted.id ?? newId('ws');
  const slug = wanted.slug ?? (await freeSlug(db, wanted));
  await judged('workspace', () =>
    db.kysely
      .insertInto('workspaces')
      .values({
        id,
        organization_id: wanted.organizationId,
        name: wanted.name,
        slug,
        description: wanted.description ?? null,
        is_default: wanted.isDefault,
        in_programme: wanted.inProgramme,
        created_by: wanted.createdBy ?? null,
      })
      .execute(),
  );
  return { id };
}

async function freeSlug(
  db: Handle,
  { organizationId, name }: { readonly organizationId: string; readonly name: string },
): Promise<string> {
  const slug = slugOf(name);
  const taken = await db.kysely
    .selectFrom('workspaces')
    .select('name')
    .where('organization_id', '=', organizationId)
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (taken === undefined) return slug;
  if (taken.name !== name) return distinctSlugOf(name);
  throw new AdminError('conflict', `workspace: one is named ${JSON.stringify(name)} already: give a slug`);
}

/** One workspace; with an organization, only if it belongs to that one. */
interface WorkspaceChoice {
  readonly workspaceId: string;
  readonly organizationId?: string | undefined;
}

/** One that is not deleted. */
const chosen = ({ workspaceId, organizationId }: WorkspaceChoice) => sql<SqlBool>`
  id = ${workspaceId} and deleted_at is null
  ${organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`}`;

const workspaceChange = z.strictObject({
  name: nameSchema.optional(),
  slug: slugSchema.optional(),
  description: descriptionSchema.optional(),
});

/** Sets what is given. @throws AdminError `invalid_input`, `not_found`, `conflict` */
export async function updateWorkspace(
  db: Handle,
  { workspaceId, organizationId, ...given }: WorkspaceChoice & z.input<typeof workspaceChange>,
): Promise<void> {
  const columns = requireInput(workspaceChange, given);
  const { numUpdatedRows } = await judged('workspace', () =>
    db.kysely
      .updateTable('workspaces')
      .set({ ...columns, updated_at: sql<Date>`now()` })
      .where(chosen({ workspaceId, organizationId }))
      .executeTakeFirst(),
  );
  if (numUpdatedRows === 0n) throw new AdminError('not_found', `no workspace ${workspaceId}`);
}

/** Marks it deleted, which hides its interns; its rows stay. */
export async function deleteWorkspace(db: Handle, workspace: WorkspaceChoice): Promise<void> {
  const change = sql`update workspaces set deleted_at = now() where ${chosen(workspace)}`;
  await changeRow(db, `workspace ${workspace.workspaceId}`, change);
}
