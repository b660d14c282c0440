import { createHash, randomBytes } from 'node:crypto';
import { type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import type { Handle } from '../../database.ts';
import { maskSecret } from '../../mask.ts';
import { hasAccess } from '../api-keys.ts';
import { AdminError, judged, requireInput } from './admin-error.ts';
import { changeRow } from './change-row.ts';
import { idSchema, nameSchema } from './ids.ts';

const API_KEY_PREFIX = 'sk-ori-v1-';

/** The stored form and name of a key: SHA-256 of the whole key, in hex. With 256 random bits it needs no slow hash. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

const newApiKey = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('api'),
    name: nameSchema,
    workspaceId: idSchema,
    internId: idSchema.optional(),
    createdBy: idSchema.optional(),
    createdByKey: z.string().optional(),
    expiresAt: z.date().optional(),
  }),
  z.strictObject({
    kind: z.literal('management'),
    name: nameSchema,
    organizationId: idSchema,
    createdBy: idSchema.optional(),
    createdByKey: z.string().optional(),
    expiresAt: z.date().optional(),
  }),
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
 * @throws AdminError `invalid_input` if the person it belongs to has no access to what it gives access to
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
  await judged('API key', () =>
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

/** One key; with an organization, only if it is an ordinary key of that one. */
export interface KeyChoice {
  readonly hash: string;
  readonly organizationId?: string | undefined;
}

const chosen = ({ hash, organizationId }: KeyChoice) => sql<SqlBool>`
  hash = ${hash} and ${
    organizationId === undefined ? sql`true` : sql`organization_id = ${organizationId} and kind = 'api'`
  }`;

/**
 * Sets what is given. A key that is disabled is refused from the next request on, and can be enabled again: if an operator
 * disabled it, only by an operator. An operator names no organization.
 *
 * @throws AdminError `not_found`, `invalid_input`
 */
export async function updateApiKey(
  db: Handle,
  {
    name,
    disabled,
    ...key
  }: KeyChoice & { readonly name?: string | undefined; readonly disabled?: boolean | undefined },
): Promise<void> {
  const byOperator = key.organizationId === undefined;
  const { numUpdatedRows } = await judged('API key', () =>
    db.kysely
      .updateTable('api_keys')
      .set({
        ...(name !== undefined && { name: requireInput(nameSchema, name) }),
        ...(disabled !== undefined && {
          disabled_at: disabled ? sql<Date>`coalesce(disabled_at, now())` : null,
        }),
        ...(disabled !== undefined && byOperator && { disabled_by_operator: disabled }),
        updated_at: sql<Date>`now()`,
      })
      .where(chosen(key))
      .executeTakeFirst(),
  );
  if (numUpdatedRows === 0n) throw new AdminError('not_found', 'no such API key');
}

export async function disableApiKey(db: Handle, { hash }: { readonly hash: string }): Promise<void> {
  await updateApiKey(db, { hash, disabled: true });
}

/** The hashes of the keys that a management key created. */
export async function keysCreatedBy(db: Handle, { hash }: { readonly hash: string }): Promise<string[]> {
  const { rows } = await sql<{ hash: string }>`
    select hash from api_keys where created_by_key = ${hash}`.execute(db.kysely);
  return rows.map((row) => row.hash);
}

/** Deletes its guardrail assignment too. Restrictions of provider credentials to the key stay, and fit no other key. */
export async function deleteApiKey(db: Handle, key: KeyChoice): Promise<void> {
  await changeRow(db, 'such API key', sql`delete from api_keys where ${chosen(key)}`);
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
