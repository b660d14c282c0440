import { DpopError, type DpopErrorCode } from '@ori/dpop';
import { DPOP_REFUSALS } from '@ori/dpop/refusals';
import { BodyError } from '@ori/http/body';
import { DeadlineError } from '@ori/http/deadline';
import type { Presentation } from '@ori/http/envelope';
import { IdentityError } from '@ori/identity';
import { Refusal, type RefusalCode } from '../../refusal.ts';
import type { Family, Operation } from '../operation.ts';
import { present } from '../presentation.ts';
import { readQuery, requireBody } from '../read-call.ts';

/** What each family refuses a known credential for. */
const FORBIDDEN: Readonly<Record<Family, readonly Settled[]>> = {
  Interns: ['insufficient_scope', 'access_revoked', 'regional_host_refused'],
  BYOK: ['management_key_required'],
  Guardrails: ['management_key_required'],
};

type Settled = Exclude<RefusalCode, 'invalid_parameters'>;

/** The deadline that the example of a 408 names: the default. */
const DEADLINE_MS = 5000;

const OF_STATUS = {
  404: 'not_found',
  409: 'conflict',
} as const;

/** Every refusal that the operation documents, made by the very functions that answer with it. */
export function refusalsOf(operation: Operation): Presentation[] {
  const { family, refusals, body } = operation;
  const forbidden = refusals.includes(403) || family !== 'Interns' ? FORBIDDEN[family] : [];
  const codes = refusals.flatMap((status) => (status === 403 ? [] : OF_STATUS[status]));
  const ofBody = body === undefined ? [] : (['body_too_large', 'content_encoding_unsupported'] as const);
  const dpopCodes = Object.keys(DPOP_REFUSALS) as DpopErrorCode[];
  const ofPossession = dpopCodes.map((code) => new DpopError(code, code));
  const errors = [
    ...invalidOf(operation),
    ...['bearer_refused' as const, ...forbidden, ...codes].map((code) => new Refusal(code)),
    ...ofBody.map((code) => new BodyError(code, code)),
    ...(family === 'Interns' ? [new DeadlineError(DEADLINE_MS), ...ofPossession] : []),
    new IdentityError('issuer_unavailable', 'the issuer did not answer'),
  ];
  return errors.map((error) => present(error, operation));
}

/** What the operation throws for its own example of an invalid request. */
function invalidOf({ invalidExample: example, query, body }: Operation): unknown[] {
  if (example === undefined) return [];
  try {
    if ('query' in example && query !== undefined) readQuery(query, example.query);
    if ('body' in example && body !== undefined) requireBody(body, example.body);
  } catch (error) {
    return [error];
  }
  throw new TypeError('invalidExample: is valid');
}
