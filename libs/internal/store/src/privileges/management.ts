import { type RoleGrants, WHOLE } from './grant.ts';

/** It can read everything except signing keys and the audit. */
export const MANAGEMENT: RoleGrants = {
  role: 'ori_management',
  tables: {
    api_keys: {
      select: true,
      insert: true,
      update: ['name', 'disabled_at', 'updated_at'],
      delete: true,
    },
    byok_credentials: {
      select: true,
      insert: true,
      delete: true,
      update: [
        'name',
        'label',
        'sealed_key',
        'key_region',
        'disabled',
        'is_fallback',
        'is_required',
        'is_byok_only',
        'allowed_api_key_hashes',
        'allowed_models',
        'allowed_user_ids',
        'declared_region',
        'declared_zdr',
      ],
    },
    dpop_epoch: { select: true, insert: true, update: true },
    guardrail_key_assignments: WHOLE,
    guardrail_member_assignments: WHOLE,
    guardrails: WHOLE,
    idempotency_keys: WHOLE,
    intern_icons: { select: true },
    interns: { select: true },
    members: { select: true, insert: true, update: ['removed_at'] },
    organizations: { select: true },
    spent_dpop_proofs: { select: true, insert: true, update: true, delete: true },
    switches: { select: true },
    user_subjects: { select: true },
    users: { select: true },
    workspaces: {
      select: true,
      insert: true,
      update: ['name', 'slug', 'description', 'updated_at', 'deleted_at'],
    },
  },
};
