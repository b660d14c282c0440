import { type RoleGrants, WHOLE } from './grant.ts';
import { MANAGEMENT } from './management.ts';
import { SIGNER } from './signer.ts';

/** Operators can change every table except the audit, which they can only read. */
const OPERATOR: RoleGrants = {
  role: 'ori_operator',
  tables: {
    admin_audit: { select: true },
    api_keys: WHOLE,
    byok_credentials: WHOLE,
    guardrail_key_assignments: WHOLE,
    guardrail_member_assignments: WHOLE,
    guardrails: WHOLE,
    idempotency_keys: WHOLE,
    intern_icons: WHOLE,
    interns: WHOLE,
    members: WHOLE,
    organizations: WHOLE,
    signing_keys: WHOLE,
    switches: WHOLE,
    user_subjects: WHOLE,
    users: WHOLE,
    workspaces: WHOLE,
  },
};

const AUDITOR: RoleGrants = { role: 'ori_auditor', tables: { admin_audit: { select: true } } };

/** Of every role. */
export const GRANTS: readonly RoleGrants[] = [SIGNER, MANAGEMENT, OPERATOR, AUDITOR];
