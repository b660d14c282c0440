import { InvalidCredential } from '@ori/byok/invalid-credential';
import { BodyError } from '@ori/http/body';
import { DeadlineError, presentDeadline } from '@ori/http/deadline';
import type { Presentation } from '@ori/http/envelope';
import { IdentityError } from '@ori/identity';
import { Refusal, type RefusalCode } from '../refusal.ts';
import type { Family } from './operation.ts';

/** A request whose form HTTP itself settles. */
export class MalformedRequest extends Error {
  readonly presentation: Presentation;

  constructor(presentation: Presentation, options?: ErrorOptions) {
    super(presentation.message, options);
    this.name = 'MalformedRequest';
    this.presentation = presentation;
  }
}

interface Terms {
  readonly status: number;
  /** What the metadata of an intern operation says; 401 and 403 carry none there. */
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const TERMS = {
  bearer_refused: { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } },
  management_key_required: { status: 403 },
  insufficient_scope: {
    status: 403,
    headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="interns"' },
  },
  access_revoked: { status: 403 },
  regional_host_refused: { status: 403 },
  not_found: { status: 404, reason: 'not_found' },
  invalid_parameters: { status: 400, reason: 'invalid_body' },
  conflict: { status: 409 },
} satisfies Record<RefusalCode, Terms>;

const BODY_TERMS = {
  body_too_large: { status: 413, message: 'The body is larger than 1048576 bytes.' },
  content_encoding_unsupported: { status: 415, message: 'The body must not have a content encoding.' },
  body_aborted: { status: 400, message: 'The body ended before it was whole.' },
} satisfies Record<BodyError['code'], Presentation>;

/**
 * What the caller of an operation is told about a failure. The interface lists 403 for some operations only: where
 * it does not, a credential of the wrong kind is a 401. Intern operations carry metadata, the others do not.
 */
export function present(error: unknown, family: Family, refusals: readonly number[]): Presentation {
  if (error instanceof InvalidCredential) {
    return present(new Refusal('invalid_parameters', error.message), family, refusals);
  }
  if (error instanceof Refusal) {
    const terms: Terms = TERMS[error.code];
    if (error.code === 'management_key_required' && !refusals.includes(403)) {
      return { ...TERMS.bearer_refused, message: error.message };
    }
    const { reason, ...rest } = terms;
    return {
      ...rest,
      message: error.message,
      ...(family === 'Interns' && reason !== undefined && { reason }),
    };
  }
  if (error instanceof IdentityError && error.code === 'bearer_refused') {
    return { ...TERMS.bearer_refused, message: 'A valid bearer credential is required.' };
  }
  if (error instanceof MalformedRequest) return error.presentation;
  if (error instanceof BodyError) return BODY_TERMS[error.code];
  if (family !== 'Interns')
    return { status: 500, message: 'The request could not be completed. Try again later.' };
  if (error instanceof DeadlineError) return presentDeadline(error.deadlineMs);
  return {
    status: 500,
    message: 'The request could not be completed. It may be repeated.',
    reason: 'internal_error',
    retryable: true,
  };
}
