import { createHash, randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Handle } from '../database.ts';
import { maskSecret } from '../mask.ts';
import { hasAccess, isKeyDisabled, ownerHasAccess } from '../queries/api-keys.ts';
import { AdminError, requireInput, translateConstraints } from './admin-error.ts';
import { idSchema, nameSchema } from './ids.ts';

const API_KEY_PREFIX = 'sk-ori-v1-';

/** Any constant works if every version of this code uses the same one. */
const CREATORS_LOCK = 716_309_453;

/** The stored form and name of a key: SHA-256 of the whole key, in hex. With 256 random bits it needs no slow hash. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

const ofEvery = {
  name: nameSchema,
  createdBy: idSchema.optional(),
  createdByKey: z.string().optional(),
  expiresAt: z.date().optional(),
};

const newApiKey = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('api'),
    workspaceId: idSchema,
    internId: idSchema.optional(),
    ...ofEvery,
  }),
  z.strictObject({ kind: z.literal('management'), organizationId: idSchema, ...ofEvery }),
]);

/**
 * An `api` key belongs to a workspace, or with `internId` only to that intern; a `management` key to an organization.
 */
export type NewApiKey = z.input<typeof newApiKey>;

export interface CreatedApiKey {
  /** The key itself, which cannot be retrieved again. */
  readonly key: string;
  readonly hash: string;
  readonly label: string;
}

/**
 * Creates a key of 256 random bits and stores its hash and masked label.
 *
 * @throws AdminError `invalid_input` if the person it belongs to has no access to what it gives access to, or if the key
 *   that creates it is refused
 */
export async function createApiKey(db: Handle, input: NewApiKey): Promise<CreatedApiKey> {
  const wanted = requireInput(newApiKey, input);
  const key = `${API_KEY_PREFIX}${randomBytes(32).toString('hex')}`;
  const created = { key, hash: hashApiKey(key), label: maskSecret(key) };
  const place =
    wanted.kind === 'management'
      ? { organization_id: wanted.organizationId, workspace_id: null, intern_id: null }
      : {
          organization_id: await organizationOf(db, wanted.workspaceId),
          workspace_id: wanted.workspaceId,
          intern_id: wanted.internId ?? null,
        };
  if (wanted.createdBy !== undefined) await requireAccess(db, wanted.createdBy, place);
  if (wanted.createdByKey !== undefined) await requireAccepted(db, wanted.createdByKey);
  await translateConstraints('API key', () =>
    db.kysely
      .insertInto('api_keys')
      .values({
        ...place,
        hash: created.hash,
        label: created.label,
        kind: wanted.kind,
        name: wanted.name,
        created_by: wanted.createdBy ?? null,
        created_by_key: wanted.createdByKey ?? null,
        expires_at: wanted.expiresAt ?? null,
      })
      .execute(),
  );
  return created;
}

async function requireAccess(
  db: Handle,
  userId: string,
  place: { readonly organization_id: string; readonly workspace_id: string | null },
): Promise<void> {
  const user = sql`${userId}`;
  const organization = sql`${place.organization_id}`;
  const workspace = sql`${place.workspace_id}::text`;
  const { rows } = await sql<{ has: boolean }>`
    select ${hasAccess({ user, organization, workspace })} as has`.execute(db.kysely);
  if (rows[0]?.has) return;
  const where = place.workspace_id === null ? 'any workspace of the organization' : place.workspace_id;
  const why = `${userId} is disabled, or not a member of ${where}`;
  throw new AdminError('invalid_input', `the key could not be used: ${why}`);
}

/**
 * Requires a key to be accepted still, for what gives access that may outlast it. Until the transaction ends,
 * `endingKeys` waits.
 *
 * @throws AdminError `invalid_input`
 */
export async function requireAccepted({ kysely }: Handle, hash: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${sql.lit(CREATORS_LOCK)}, hashtext(${hash}))`.execute(
    kysely,
  );
  const { rows } = await sql`
    select from api_keys k where hash = ${hash} and not ${isKeyDisabled} and ${ownerHasAccess}`.execute(
    kysely,
  );
  if (rows.length === 0) throw new AdminError('invalid_input', 'the key of this request is refused');
}

/** Waits for what these keys are creating. Until the transaction ends, they give nobody access. */
export async function holdCreators({ kysely }: Handle, which: RawBuilder<boolean>): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(${sql.lit(CREATORS_LOCK)}, hashtext(hash)) from api_keys where ${which} order by hash`.execute(
    kysely,
  );
}

/** @throws AdminError `not_found` if the workspace does not exist or was deleted */
export async function organizationOf(db: Handle, workspaceId: string): Promise<string> {
  const row = await db.kysely
    .selectFrom('workspaces')
    .select('organization_id')
    .where('id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) throw new AdminError('not_found', `no workspace ${workspaceId}`);
  return row.organization_id;
}
