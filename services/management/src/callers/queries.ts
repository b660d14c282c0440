import { isKeyDisabled, ownerHasAccess } from '@ori/store/api-keys';
import type { Database } from '@ori/store/database';
import type { Schema } from '@ori/store/schema';
import { asTenant, become } from '@ori/store/tenant';
import type { Transaction } from 'kysely';

/** @param hash SHA-256 of the whole key, hex */
export function findApiKeyCaller(db: Database, hash: string) {
  return asTenant(db, { apiKeyHash: hash }, async (trx) => {
    const row = await trx
      .selectFrom('api_keys as k')
      .leftJoin('workspaces as w', 'w.id', 'k.workspace_id')
      .select([
        'k.hash',
        'k.kind',
        isKeyDisabled.as('disabled'),
        'k.organization_id',
        'k.created_by',
        'k.intern_id',
        'w.id as workspace_id',
        'w.in_programme',
        'w.deleted_at',
      ])
      .where('k.hash', '=', hash)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const organizationId = row.organization_id;
    return {
      hash: row.hash,
      kind: row.kind,
      disabled: row.disabled,
      organizationId,
      createdBy: row.created_by,
      /** It belongs to a person who could not do the same: refuse it as access that was revoked. */
      ownerLeft: row.created_by !== null && !(await isOwned(trx, organizationId, hash)),
      /** Set for an intern's own key, which can only access that intern. */
      internId: row.intern_id,
      /** Null for a management key. */
      workspace:
        row.workspace_id === null
          ? null
          : {
              id: row.workspace_id,
              inProgramme: row.in_programme === true,
              deleted: row.deleted_at !== null,
            },
    };
  });
}

/** The caller that an API key identifies. Treat a disabled key like an unknown one. */
export type ApiKeyCaller = NonNullable<Awaited<ReturnType<typeof findApiKeyCaller>>>;

/** Read as the organization of the key, which sees its members and their users. */
async function isOwned(trx: Transaction<Schema>, organizationId: string, hash: string): Promise<boolean> {
  await become(trx, { organizationId });
  const row = trx.selectFrom('api_keys as k').select(ownerHasAccess.as('has')).where('k.hash', '=', hash);
  return (await row.executeTakeFirst())?.has === true;
}

export function findPerson(
  db: Database,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
) {
  return asTenant(db, { issuer, subject }, async (trx) => {
    const rows = await trx
      .selectFrom('user_subjects as s')
      .innerJoin('users as u', 'u.id', 's.user_id')
      .leftJoin('members as m', 'm.user_id', 'u.id')
      .leftJoin('workspaces as w', (join) =>
        join.onRef('w.id', '=', 'm.workspace_id').on('w.deleted_at', 'is', null),
      )
      .select([
        'u.id',
        'u.disabled_at',
        'u.sessions_valid_from',
        'w.id as workspace_id',
        'w.in_programme',
        'm.removed_at',
      ])
      .where('s.issuer', '=', issuer)
      .where('s.subject', '=', subject)
      .execute();
    const [first] = rows;
    if (first === undefined) return undefined;
    // Of workspaces of which the person is or was a member.
    const memberships = rows.flatMap(({ workspace_id, in_programme, removed_at }) =>
      workspace_id === null
        ? []
        : [
            {
              workspaceId: workspace_id,
              inProgramme: in_programme === true,
              removed: removed_at !== null,
            },
          ],
    );
    return {
      userId: first.id,
      disabled: first.disabled_at !== null,
      /** Unix seconds: sessions that began earlier are revoked. */
      sessionsValidFrom: first.sessions_valid_from,
      memberships,
    };
  });
}

/** The user with a subject, and their workspaces that are not deleted. */
export type Person = NonNullable<Awaited<ReturnType<typeof findPerson>>>;
