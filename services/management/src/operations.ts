import { ASSIGNMENT_OPERATIONS } from './assignments/operations.ts';
import { BYOK_OPERATIONS } from './byok/operations.ts';
import { GUARDRAIL_OPERATIONS } from './guardrails/operations.ts';
import { INTERN_OPERATIONS } from './interns/operations.ts';
import { KEY_OPERATIONS } from './keys/operations.ts';
import type { Operation } from './operation.ts';
import { ORGANIZATION_OPERATIONS } from './organization/operations.ts';
import { WORKSPACE_OPERATIONS } from './workspaces/operations.ts';

/** Every operation of the API except signing. */
export const OPERATIONS: readonly Operation[] = [
  ...INTERN_OPERATIONS,
  ...BYOK_OPERATIONS,
  ...GUARDRAIL_OPERATIONS,
  ...ASSIGNMENT_OPERATIONS,
  ...KEY_OPERATIONS,
  ...WORKSPACE_OPERATIONS,
  ...ORGANIZATION_OPERATIONS,
];
