import { BodyError } from '@ori/http/body';
import { DeadlineError } from '@ori/http/deadline';
import type { Presentation } from '@ori/http/envelope';
import { IdentityError } from '@ori/identity';
import { Refusal, type RefusalCode } from '../../refusal.ts';
import type { Family, Operation } from '../operation.ts';
import { present } from '../presentation.ts';

/** A sentence with which each refusal may come. */
const SENTENCES = {
  bearer_refused: 'A valid bearer credential is required.',
  management_key_required: 'A management key is required.',
  insufficient_scope: 'The grant does not carry the interns scope.',
  access_revoked: 'Access to the workspace was revoked.',
  regional_host_refused: 'Intern operations are refused on regional host names.',
  not_found: 'Not found.',
  invalid_parameters: 'limit: must be an integer from 1 to 100.',
  conflict: 'The credential is being changed by another request. Try again later.',
} satisfies Record<RefusalCode, string>;

const FORBIDDEN: Readonly<Record<Family, readonly RefusalCode[]>> = {
  Interns: ['insufficient_scope', 'access_revoked', 'regional_host_refused'],
  BYOK: ['management_key_required'],
  Guardrails: ['management_key_required'],
};

/** The deadline that the example of a 408 names: the default. */
const DEADLINE_MS = 5000;

const OF_STATUS = {
  400: 'invalid_parameters',
  401: 'bearer_refused',
  404: 'not_found',
  409: 'conflict',
} as const;

/** Every refusal that the operation documents, made by the very function that answers with it. */
export function refusalsOf({ family, refusals, body }: Operation): Presentation[] {
  const codes = refusals.flatMap((status) => (status === 403 ? FORBIDDEN[family] : OF_STATUS[status]));
  const ofBody = body === undefined ? [] : (['body_too_large', 'content_encoding_unsupported'] as const);
  const errors = [
    ...codes.map((code) => new Refusal(code, SENTENCES[code])),
    ...ofBody.map((code) => new BodyError(code, code)),
    ...(family === 'Interns' ? [new DeadlineError(DEADLINE_MS)] : []),
    new IdentityError('issuer_unavailable', 'the issuer did not answer'),
  ];
  return errors.map((error) => present(error, family, refusals));
}
