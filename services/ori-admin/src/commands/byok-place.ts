import type { Database } from '@ori/store/database';
import { AdminError } from '@ori/store/writes/admin-error';
import { organizationOf } from '@ori/store/writes/api-keys';
import { z } from 'zod';
import { UsageError } from '../failure.ts';

export interface PlaceOptions {
  readonly workspace?: string;
  readonly organization?: string;
}

/** The scope of a new credential: one workspace, or every workspace of an organization. */
export async function placeOf(
  db: Database,
  { workspace, organization }: PlaceOptions,
): Promise<{ organization_id: string; workspace_id: string | null }> {
  if (workspace !== undefined && organization === undefined) {
    return { organization_id: await organizationOf(db, workspace), workspace_id: workspace };
  }
  if (organization !== undefined && workspace === undefined) {
    return { organization_id: organization, workspace_id: null };
  }
  throw new UsageError('Give either --workspace or --organization.');
}

/** The organization of a stored credential. @throws AdminError `not_found` */
export async function credentialOwner(db: Database, id: string): Promise<{ organizationId: string }> {
  const found = z.uuid().safeParse(id).success
    ? await db.kysely
        .selectFrom('byok_credentials')
        .select('organization_id')
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined;
  if (found === undefined) throw new AdminError('not_found', `no BYOK credential ${id}`);
  return { organizationId: found.organization_id };
}
