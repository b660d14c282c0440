import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Handle } from '../database.ts';
import { AdminError, requireInput, translateConstraints } from './admin-error.ts';
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
  await translateConstraints('workspace', () =>
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
