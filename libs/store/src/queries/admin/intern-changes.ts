import { z } from 'zod';
import type { Database } from '../../database.ts';
import type { InternProgress } from '../../schema.ts';
import { INTERN_STATUSES, type InternStatus } from '../../vocabulary.ts';
import { AdminError, judged, requireInput } from './admin-error.ts';
import { idSchema, nameSchema } from './ids.ts';
import { internFields } from './interns.ts';

/** Omitted fields keep their value; null clears one. */
export interface InternChange {
  readonly internId: string;
  readonly name?: string;
  readonly status?: InternStatus;
  readonly description?: string | null;
  readonly hostname?: string | null;
  readonly model?: string | null;
  readonly vaultId?: string | null;
  readonly attachedVaultId?: string | null;
  readonly instructions?: string | null;
  readonly lastFailureMessage?: string | null;
  readonly progress?: InternProgress | null;
}

const internChange = z.strictObject({
  internId: idSchema,
  name: nameSchema.optional(),
  status: z.enum(INTERN_STATUSES).optional(),
  description: internFields.description.nullable(),
  hostname: internFields.hostname.nullable(),
  model: internFields.model.nullable(),
  vaultId: internFields.vaultId.nullable(),
  attachedVaultId: internFields.attachedVaultId.nullable(),
  instructions: internFields.instructions.nullable(),
  lastFailureMessage: internFields.lastFailureMessage.nullable(),
  progress: internFields.progress.nullable(),
});

/** @throws AdminError `invalid_input` (also without any change), `not_found` */
export async function updateIntern(db: Database, input: InternChange): Promise<void> {
  const { internId, progress, ...change } = requireInput(internChange, input);
  const columns = {
    name: change.name,
    status: change.status,
    description: change.description,
    hostname: change.hostname,
    model: change.model,
    vault_id: change.vaultId,
    attached_vault_id: change.attachedVaultId,
    instructions: change.instructions,
    last_failure_message: change.lastFailureMessage,
    progress: progress && JSON.stringify(progress),
  };
  const given = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0) throw new AdminError('invalid_input', 'no change given');
  const { numUpdatedRows } = await judged('intern', () =>
    db.kysely
      .updateTable('interns')
      .set({ ...given, updated_at: new Date() })
      .where('id', '=', internId)
      .executeTakeFirst(),
  );
  if (numUpdatedRows === 0n) throw new AdminError('not_found', `no intern ${internId}`);
}

/** Deletes its icon, API keys and signing keys too: proofs that they signed can no longer be verified. */
export async function deleteIntern(db: Database, { internId }: { readonly internId: string }): Promise<void> {
  const { numDeletedRows } = await db.kysely
    .deleteFrom('interns')
    .where('id', '=', internId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new AdminError('not_found', `no intern ${internId}`);
}
