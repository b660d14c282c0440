import { InvalidCredential } from '@ori/byok/invalid-credential';
import { DpopError } from '@ori/dpop';
import { DPOP_CHALLENGE, DPOP_REFUSALS } from '@ori/dpop/refusals';
import { BodyError } from '@ori/http/body';
import { DeadlineError, presentDeadline } from '@ori/http/deadline';
import type { Presentation } from '@ori/http/envelope';
import { IdentityError } from '@ori/identity';
import { BusyError } from '@ori/runtime/busy-error';
import { PRESENTATIONS as SIGNING } from '@ori/signing-api/refusals';
import { Refusal, type RefusalCode } from '../refusal.ts';
import type { Operation } from './operation.ts';

/** A request that is refused at the HTTP level. */
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
  /** Absent if each refusal has its own message. */
  readonly message?: string;
  /** The reason in the metadata of an intern operation; 401 and 403 have none. */
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const TERMS = {
  bearer_refused: {
    status: 401,
    message: 'A valid bearer credential is required.',
    headers: { 'WWW-Authenticate': `Bearer, ${DPOP_CHALLENGE}` },
  },
  management_key_required: { status: 403, message: 'A management key is required.' },
  insufficient_scope: {
    status: 403,
    message: 'The grant does not carry the interns scope.',
    headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="interns"' },
  },
  access_revoked: { status: 403, message: 'Access to the workspace was revoked.' },
  regional_host_refused: { status: 403, message: SIGNING.regional_host_refused.message },
  not_found: { status: 404, message: 'Not found.', reason: 'not_found' },
  invalid_parameters: { status: 400, reason: 'invalid_body' },
  conflict: {
    status: 409,
    message: 'The credential is being changed by another request. Try again later.',
  },
} satisfies Record<RefusalCode, Terms>;

const BODY_TERMS = {
  json_beyond_budget: { status: 400, message: 'The body is too large, too deep or has too many values.' },
  body_too_large: { status: 413, message: 'The body is larger than 1048576 bytes.' },
  content_encoding_unsupported: { status: 415, message: 'The body must not have a content encoding.' },
  body_aborted: { status: 400, message: 'The body is incomplete.' },
} satisfies Record<BodyError['code'], Presentation>;

/** The response when the process is overloaded. */
export function presentBusy(isIntern: boolean): Presentation {
  return { ...failed(isIntern), headers: { 'Retry-After': '1' } };
}

/**
 * The answer to a failure. The API has 403 and 400 only for some operations: otherwise a credential of the wrong kind
 * gets 401, and an unacceptable parameter gets 404. Only intern operations have metadata.
 */
export function present(error: unknown, operation: Operation): Presentation {
  const isIntern = operation.family === 'Interns';
  if (error instanceof InvalidCredential) return present(invalid(error.message), operation);
  if (error instanceof IdentityError && error.code === 'bearer_refused') return TERMS.bearer_refused;
  if (error instanceof Refusal) {
    const { reason, ...terms } = termsOf(error.code, operation);
    return { message: error.message, ...terms, ...(isIntern && reason !== undefined && { reason }) };
  }
  if (error instanceof IdentityError && error.code === 'certificate_bound') return SIGNING.certificate_bound;
  if (error instanceof DpopError) {
    const { reason: _, ...terms }: Presentation = DPOP_REFUSALS[error.code];
    return terms.status === 403 && !operation.refusals.includes(403) ? { ...terms, status: 401 } : terms;
  }
  if (error instanceof MalformedRequest) return error.presentation;
  if (error instanceof BodyError) return BODY_TERMS[error.code];
  if (isIntern && error instanceof DeadlineError) return presentDeadline(error.deadlineMs);
  return error instanceof BusyError ? presentBusy(isIntern) : failed(isIntern);
}

function failed(isIntern: boolean): Presentation {
  return isIntern
    ? SIGNING.internal_error
    : { status: 500, message: 'The request could not be completed. Try again later.' };
}

function termsOf(code: RefusalCode, { refusals, invalidExample }: Operation): Terms {
  if (code === 'management_key_required' && !refusals.includes(403)) {
    return { ...TERMS.bearer_refused, message: TERMS[code].message };
  }
  if (code === 'invalid_parameters' && invalidExample === undefined) return TERMS.not_found;
  return TERMS[code];
}

const invalid = (message: string) => new Refusal('invalid_parameters', message);
