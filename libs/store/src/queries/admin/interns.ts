import { z } from 'zod';
import type { Database } from '../../database.ts';
import type { InternProgress } from '../../schema.ts';
import { INTERN_STATUSES, type InternStatus } from '../../vocabulary.ts';
import { AdminError, judged, requireInput } from './admin-error.ts';
import { organizationOf } from './api-keys.ts';
import { idSchema, nameSchema, newId } from './ids.ts';

/** The fields of an intern, named as in the API. Omitted ones are null; `status` defaults to `queued`. */
export interface NewIntern {
  readonly id?: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description?: string;
  readonly hostname?: string;
  readonly model?: string;
  readonly status?: InternStatus;
  readonly vaultId?: string;
  readonly attachedVaultId?: string;
  readonly instructions?: string;
  readonly lastFailureMessage?: string;
  readonly progress?: InternProgress;
  readonly createdByUserId?: string;
  readonly createdByKeyHash?: string;
  readonly createdAt?: Date;
}

const text = z.string().max(65_536, 'expected at most 65536 characters').optional();

/** The fields of both a new intern and a change. */
export const internFields = {
  description: text,
  hostname: z
    .string()
    .regex(/^(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/, 'expected <intern_name>.<domain>')
    .optional(),
  model: z
    .string()
    .regex(/^[^/\s]+\/[^\s]+$/, 'expected <provider>/<model>')
    .optional(),
  vaultId: idSchema.optional(),
  attachedVaultId: idSchema.optional(),
  instructions: text,
  lastFailureMessage: text,
  progress: z
    .strictObject({ step_label: z.string(), step_number: z.int().min(1), total_steps: z.int().min(1) })
    .optional(),
} as const;

const newIntern = z.strictObject({
  id: idSchema.optional(),
  workspaceId: idSchema,
  name: nameSchema,
  status: z.enum(INTERN_STATUSES).default('queued'),
  ...internFields,
  createdByUserId: idSchema.optional(),
  createdByKeyHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'expected 64 characters of 0-9a-f')
    .optional(),
  createdAt: z.date().optional(),
});

export async function createIntern(db: Database, input: NewIntern): Promise<{ id: string }> {
  const intern = requireInput(newIntern, input);
  const id = intern.id ?? newId('int');
  const organizationId = await organizationOf(db, intern.workspaceId);
  if (intern.createdByKeyHash !== undefined) await requireKeyOf(db, organizationId, intern.createdByKeyHash);
  await judged('intern', () =>
    db.kysely
      .insertInto('interns')
      .values({
        id,
        organization_id: organizationId,
        workspace_id: intern.workspaceId,
        name: intern.name,
        description: intern.description ?? null,
        hostname: intern.hostname ?? null,
        model: intern.model ?? null,
        status: intern.status,
        vault_id: intern.vaultId ?? null,
        attached_vault_id: intern.attachedVaultId ?? null,
        instructions: intern.instructions ?? null,
        last_failure_message: intern.lastFailureMessage ?? null,
        progress: intern.progress === undefined ? null : JSON.stringify(intern.progress),
        created_by_user_id: intern.createdByUserId ?? null,
        created_by_key_hash: intern.createdByKeyHash ?? null,
        ...(intern.createdAt === undefined
          ? {}
          : { created_at: intern.createdAt, updated_at: intern.createdAt }),
      })
      .execute(),
  );
  return { id };
}

async function requireKeyOf(db: Database, organizationId: string, hash: string): Promise<void> {
  const row = await db.kysely
    .selectFrom('api_keys')
    .select('hash')
    .where('organization_id', '=', organizationId)
    .where('hash', '=', hash)
    .executeTakeFirst();
  if (row === undefined) throw new AdminError('not_found', `the organization has no API key ${hash}`);
}
