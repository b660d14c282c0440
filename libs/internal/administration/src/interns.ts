import type { Handle } from '@ori/store/database';
import { INTERN_STATUSES } from '@ori/store/vocabulary';
import { AdminError, requireInput, translateConstraints } from '@ori/store/writes/admin-error';
import { organizationOf } from '@ori/store/writes/api-keys';
import { idSchema, nameSchema, newId } from '@ori/store/writes/ids';
import { sql } from 'kysely';
import { z } from 'zod';
import { changeRow } from './change-row.ts';

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
});

/** @throws AdminError `invalid_input`, `not_found`, `conflict` */
export async function createIntern(db: Handle, input: z.input<typeof newIntern>): Promise<{ id: string }> {
  const wanted = requireInput(newIntern, input);
  const { id = newId('int'), workspaceId, createdByUserId, ...fields } = wanted;
  const organizationId = await organizationOf(db, workspaceId);
  await translateConstraints('intern', () =>
    db.kysely
      .insertInto('interns')
      .values({
        id,
        organization_id: organizationId,
        workspace_id: workspaceId,
        created_by_user_id: createdByUserId,
        ...columnsOf(fields),
      })
      .execute(),
  );
  return { id };
}

/** Omitted fields keep their value; null clears one. */
const internChange = z.strictObject({
  internId: idSchema,
  status: z.enum(INTERN_STATUSES).optional(),
  ...internFields,
});

/** @throws AdminError `invalid_input` (also without any change), `not_found` */
export async function updateIntern(db: Handle, input: z.input<typeof internChange>): Promise<void> {
  const { internId, ...fields } = requireInput(internChange, input);
  if (Object.values(fields).every((value) => value === undefined)) {
    throw new AdminError('invalid_input', 'no change given');
  }
  const { numUpdatedRows } = await translateConstraints('intern', () =>
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
