import { Refusal } from '../refusal.ts';

/** The account has no such workspace, or no default workspace. */
export function noWorkspace(workspaceId: string | null | undefined): Refusal {
  return new Refusal(
    'invalid_parameters',
    workspaceId === undefined
      ? 'The default workspace was deleted: pass workspace_id.'
      : 'workspace_id: not a workspace of this account.',
  );
}
