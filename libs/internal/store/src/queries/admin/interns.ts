import { sql } from 'kysely';
import { z } from 'zod';
import type { Handle } from '../../database.ts';
import { INTERN_STATUSES } from '../../vocabulary.ts';
import { AdminError, judged, requireInput } from './admin-error.ts';
import { organizationOf } from './api-keys.ts';
import { changeRow } from './change-row.ts';
import { idSchema, nameSchema, newId } from './ids.ts';

const text = z.string().max(65_536, 'expected at most 65536 characters').nullish();

/** The fields of both a new intern and a change, named as in the API; null is no value. */
export const internFields = {
  description: text,
  hostname: z
    .string()
    .regex(/^(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/, 'expected <intern_name>.<domain>')
    .nullish(),
  model: z
    .string()
    .regex(/^[^/\s]+\/[^\s]+$/, 'expected <provider>/<model>')
    .nullish(),
  vault_id: idSchema.nullish(),
  attached_vault_id: idSchema.nullish(),
  instructions: text,
  last_failure_message: text,
  progress: z
    .strictObject({ step_label: z.string(), step_number: z.int().min(1), total_steps: z.int().min(1) })
    .nullish(),
} as const;

/** Omitted fields are null. */
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
});

/** @throws AdminError `invalid_input`, `not_found`, `conflict` */
export async function createIntern(db: Handle, input: z.input<typeof newIntern>): Promise<{ id: string }> {
  const wanted = requireInput(newIntern, input);
  const { id = newId('int'), workspaceId, createdByUserId, createdByKeyHash, ...fields } = wanted;
  const organizationId = await organizationOf(db, workspaceId);
  if (createdByKeyHash !== undefined) await requireKeyOf(db, organizationId, createdByKeyHash);
  await judged('intern', () =>
    db.kysely
      .insertInto('interns')
      .values({
        id,
        organization_id: organizationId,
        workspace_id: workspaceId,
        created_by_user_id: createdByUserId,
        created_by_key_hash: createdByKeyHash,
        ...columnsOf(fields),
      })
      .execute(),
  );
  return { id };
}

async function requireKeyOf(db: Handle, organizationId: string, hash: string): Promise<void> {
  const row = await db.kysely
    .selectFrom('api_keys')
    .select('hash')
    .where('organization_id', '=', organizationId)
    .where('hash', '=', hash)
    .executeTakeFirst();
  if (row === undefined) throw new AdminError('not_found', `the organization has no API key ${hash}`);
}

/** Omitted fields keep their value; null clears one. */
const internChange = z.strictObject({
  internId: idSchema,
  name: nameSchema.optional(),
  status: z.enum(INTERN_STATUSES).optional(),
  ...internFields,
});

/** @throws AdminError `invalid_input` (also without any change), `not_found` */
export async function updateIntern(db: Handle, input: z.input<typeof internChange>): Promise<void> {
  const { internId, ...fields } = requireInput(internChange, input);
  if (Object.values(fields).every((value) => value === undefined)) {
    throw new AdminError('invalid_input', 'no change given');
  }
  const { numUpdatedRows } = await judged('intern', () =>
    db.kysely
      .updateTable('interns')
      .set({ ...columnsOf(fields), updated_at: sql<Date>`now()` })
      .where('id', '=', internId)
      .executeTakeFirst(),
  );
  if (numUpdatedRows === 0n) throw new AdminError('not_found', `no intern ${internId}`);
}

/** Deletes its icon, API keys and signing keys too: proofs that they signed can no longer be verified. */
export async function deleteIntern(db: Handle, { internId }: { readonly internId: string }): Promise<void> {
  await changeRow(db, `intern ${internId}`, sql`delete from interns where id = ${internId}`);
}

function columnsOf<Fields extends Pick<z.output<typeof internChange>, 'progress'>>(fields: Fields) {
  return { ...fields, progress: fields.progress && JSON.stringify(fields.progress) };
}
