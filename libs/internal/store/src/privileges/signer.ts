import type { RoleGrants } from './grant.ts';

/** It can read only the columns that its queries name, and write nothing. */
export const SIGNER: RoleGrants = {
  role: 'ori_signer',
  tables: {
    api_keys: { select: ['hash', 'kind', 'disabled_at', 'expires_at'] },
    interns: { select: ['id', 'workspace_id', 'answer_keys'] },
    members: { select: ['workspace_id', 'user_id', 'removed_at'] },
    organizations: { select: ['id', 'turns_per_user', 'turns_per_organization'] },
    signing_keys: {
      select: [
        'id',
        'intern_id',
        'kid',
        'public_key',
        'sealed_seed',
        'not_before',
        'expires_at',
        'retired_at',
        'statement',
        'kek',
      ],
    },
    switches: { select: true },
    user_subjects: { select: ['issuer', 'subject', 'user_id'] },
    users: { select: ['id', 'disabled_at', 'sessions_valid_from'] },
    workspaces: { select: ['id', 'organization_id', 'in_programme', 'deleted_at'] },
  },
};
