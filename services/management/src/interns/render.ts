import type { InternReader } from '../callers/caller.ts';
import type { Intern, InternStatus } from './shape.ts';

/** An intern as it is stored. */
export interface StoredIntern
  extends Omit<Intern, 'created_by_you' | 'created_at' | 'updated_at' | 'status'> {
  readonly status: InternStatus;
  readonly created_by_user_id: string | null;
  readonly created_by_key_hash: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** An intern as this caller sees it. */
export function renderIntern(intern: StoredIntern, reader: InternReader): Intern {
  return {
    id: intern.id,
    name: intern.name,
    description: intern.description,
    hostname: intern.hostname,
    model: intern.model,
    status: intern.status,
    workspace_id: intern.workspace_id,
    vault_id: intern.vault_id,
    attached_vault_id: intern.attached_vault_id,
    instructions: intern.instructions,
    icon_sha256: intern.icon_sha256,
    last_failure_message: intern.last_failure_message,
    progress: intern.progress,
    created_by_you:
      (reader.keyHash !== undefined && reader.keyHash === intern.created_by_key_hash) ||
      (reader.userId !== undefined && reader.userId === intern.created_by_user_id),
    created_at: intern.created_at.toISOString(),
    updated_at: intern.updated_at.toISOString(),
  };
}
