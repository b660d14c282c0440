import { ASSIGNMENT_OPERATIONS } from '../assignments/operations.ts';
import { BYOK_OPERATIONS } from '../byok/operations.ts';
import { GUARDRAIL_OPERATIONS } from '../guardrails/operations.ts';
import { INTERN_OPERATIONS } from '../interns/operations.ts';
import type { Operation } from './operation.ts';

/** Every operation of the API except signing. */
export const OPERATIONS: readonly Operation[] = [
  ...INTERN_OPERATIONS,
  ...BYOK_OPERATIONS,
  ...GUARDRAIL_OPERATIONS,
  ...ASSIGNMENT_OPERATIONS,
];
