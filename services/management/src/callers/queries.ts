import { isKeyDisabled, ownerHasAccess } from '@ori/store/api-keys';
import type { Database } from '@ori/store/database';
import type { ApiKeyKind, Schema } from '@ori/store/schema';
import { asTenant, become } from '@ori/store/tenant';
import type { Transaction } from 'kysely';

/** The caller that an API key identifies. Treat a disabled key like an unknown one. */
export interface ApiKeyCaller {
  readonly hash: string;
  readonly kind: ApiKeyKind;
  readonly disabled: boolean;
  readonly organizationId: string;
  readonly createdBy: string | null;
  /** It belongs to a person who could not do the same: refuse it as access that was revoked. */
  readonly ownerLeft: boolean;
  /** Set for an intern's own key, which can only access that intern. */
  readonly internId: string | null;
  /** Null for a management key. */
  readonly workspace: {
    readonly id: string;
    readonly inProgramme: boolean;
    readonly deleted: boolean;
  } | null;
}

/** A workspace of which a person is or was a member. */
interface Membership {
  readonly workspaceId: string;
  readonly inProgramme: boolean;
  readonly removed: boolean;
  /** Unix seconds: sessions that began earlier are revoked here. */
  readonly sessionsValidFrom: number | null;
}

/** The user with a subject, and their workspaces that are not deleted. */
export interface Person {
  readonly userId: string;
  readonly disabled: boolean;
  readonly memberships: readonly Membership[];
}

/** @param hash SHA-256 of the whole key, hex */
export function findApiKeyCaller(db: Database, hash: string): Promise<ApiKeyCaller | undefined> {
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
      ownerLeft: row.created_by !== null && !(await isOwned(trx, organizationId, hash)),
      internId: row.intern_id,
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

/** Read as the organization of the key, which sees its members and their users. */
async function isOwned(trx: Transaction<Schema>, organizationId: string, hash: string): Promise<boolean> {
  await become(trx, { organizationId });
  const row = trx.selectFrom('api_keys as k').select(ownerHasAccess.as('has')).where('k.hash', '=', hash);
  return (await row.executeTakeFirst())?.has === true;
}

export function findPerson(
  db: Database,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<Person | undefined> {
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
        'w.id as workspace_id',
        'w.in_programme',
        'm.removed_at',
        'm.sessions_valid_from',
      ])
      .where('s.issuer', '=', issuer)
      .where('s.subject', '=', subject)
      .execute();
    const [first] = rows;
    if (first === undefined) return undefined;
    const memberships = rows.flatMap(({ workspace_id, in_programme, removed_at, sessions_valid_from }) =>
      workspace_id === null
        ? []
        : [
            {
              workspaceId: workspace_id,
              inProgramme: in_programme === true,
              removed: removed_at !== null,
              sessionsValidFrom: sessions_valid_from,
            },
          ],
    );
    return { userId: first.id, disabled: first.disabled_at !== null, memberships };
  });
}
