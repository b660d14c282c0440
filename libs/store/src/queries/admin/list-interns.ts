import type { Database } from '../../database.ts';
import type { InternStatus } from '../../vocabulary.ts';
import { firstOf, type ListRequest } from './listed.ts';

/** Interns of one workspace or of all, newest first, whether or not the workspace is in the programme. */
export function listAllInterns(
  db: Database,
  {
    workspaceId,
    status,
    ...request
  }: ListRequest & { readonly workspaceId?: string | undefined; readonly status?: InternStatus | undefined },
) {
  return firstOf(
    db.kysely
      .selectFrom('interns')
      .select([
        'id',
        'name',
        'workspace_id',
        'status',
        'hostname',
        'model',
        'description',
        'vault_id',
        'attached_vault_id',
        'instructions',
        'icon_sha256',
        'last_failure_message',
        'progress',
        'created_by_user_id',
        'created_at',
        'updated_at',
      ])
      .$if(workspaceId !== undefined, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
      .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'queued'))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc'),
    request,
  );
}
