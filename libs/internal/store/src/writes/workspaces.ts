import { z } from 'zod';
import type { Handle } from '../database.ts';
import { AdminError, requireInput, translateConstraints } from './admin-error.ts';
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
