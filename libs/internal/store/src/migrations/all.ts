import type { Migration } from 'kysely/migration';
import * as tenants from './0001-tenants.ts';
import * as interns from './0002-interns.ts';
import * as grants from './0003-grants.ts';
import * as byok from './0004-byok.ts';
import * as guardrails from './0005-guardrails.ts';
import * as rowLevelSecurity from './0006-row-level-security.ts';
import * as internsByStatus from './0007-interns-by-status.ts';
import * as signingKeysByExpiry from './0008-signing-keys-by-expiry.ts';
import * as guardrailLimitOfNothing from './0009-guardrail-limit-of-nothing.ts';
import * as adminAudit from './0010-admin-audit.ts';
import * as organizationLimits from './0011-organization-limits.ts';
import * as policiesByIndex from './0012-policies-by-index.ts';
import * as tallies from './0013-tallies.ts';
import * as managementWrites from './0014-management-writes.ts';
import * as spentDpopProofs from './0015-spent-dpop-proofs.ts';
import * as keyStatements from './0016-key-statements.ts';
import * as idempotencyKeys from './0017-idempotency-keys.ts';
import * as idForm from './0018-id-form.ts';
import * as boundedLists from './0019-bounded-lists.ts';
import * as ownersOfKeys from './0020-owners-of-keys.ts';

/** In order. A released migration is never edited; every change of the database is a new file here. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-tenants': tenants,
  '0002-interns': interns,
  '0003-grants': grants,
  '0004-byok': byok,
  '0005-guardrails': guardrails,
  '0006-row-level-security': rowLevelSecurity,
  '0007-interns-by-status': internsByStatus,
  '0008-signing-keys-by-expiry': signingKeysByExpiry,
  '0009-guardrail-limit-of-nothing': guardrailLimitOfNothing,
  '0010-admin-audit': adminAudit,
  '0011-organization-limits': organizationLimits,
  '0012-policies-by-index': policiesByIndex,
  '0013-tallies': tallies,
  '0014-management-writes': managementWrites,
  '0015-spent-dpop-proofs': spentDpopProofs,
  '0016-key-statements': keyStatements,
  '0017-idempotency-keys': idempotencyKeys,
  '0018-id-form': idForm,
  '0019-bounded-lists': boundedLists,
  '0020-owners-of-keys': ownersOfKeys,
};
