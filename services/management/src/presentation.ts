import { PRESENTATIONS as SIGNING } from '@ori/api/refusals';
import { BodyError } from '@ori/http/body';
import { DeadlineError, presentDeadline } from '@ori/http/deadline';
import type { Presentation } from '@ori/http/presentation';
import { DpopError } from '@ori/identity/dpop/error';
import { DPOP_CHALLENGE, DPOP_REFUSALS } from '@ori/identity/dpop/refusals';
import { IdentityError } from '@ori/identity/identity-error';
import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { BusyError } from '@ori/runtime/busy-error';
import type { Budget } from '@ori/runtime/metrics';
import { AdminError } from '@ori/store/writes/admin-error';
import type { Operation } from './operation.ts';
import { Refusal, type RefusalCode } from './refusal.ts';

interface Terms {
  readonly status: number;
  /** Absent if each refusal has its own message. */
  readonly message?: string;
  /** The reason in the metadata of an intern operation; 401 and 403 have none. */
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** When a request that met overload may be repeated. */
const RETRY = { 'Retry-After': '1' };

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
  access_revoked: { status: 403, message: 'Access was revoked.' },
  insufficient_user_authentication: SIGNING.insufficient_user_authentication,
  regional_host_refused: { status: 403, message: SIGNING.regional_host_refused.message },
  not_found: { status: 404, message: 'Not found.', reason: 'not_found' },
  invalid_parameters: { status: 400, reason: 'invalid_body' },
  unsupported_media_type: { status: 415, message: 'The body must be sent as application/json.' },
  precondition_failed: {
    status: 412,
    message: 'The record is not as If-Match has it. Get it again, and repeat the change on that.',
  },
  key_used_otherwise: { status: 422, message: 'This Idempotency-Key was used for another request.' },
  key_in_use: {
    status: 409,
    message: 'A request with this Idempotency-Key is still running. Repeat it later.',
    headers: RETRY,
  },
  answer_lost: {
    status: 409,
    message: 'The request with this Idempotency-Key was executed, but its answer can no longer be read.',
  },
  too_many_answers: {
    status: 429,
    message:
      'The answers kept for the Idempotency-Keys of this account exceed 64 MiB. Repeat it later, or without one.',
    headers: { 'Retry-After': '3600' },
  },
} satisfies Record<RefusalCode, Terms>;

/** For the operations that have 409. */
const CONTENDED: Presentation = {
  status: 409,
  message: 'The credential is being changed by another request. Try again later.',
};

const BODY_TERMS = {
  body_too_large: { status: 413, message: 'The body is larger than 1048576 bytes.' },
  content_encoding_unsupported: { status: 415, message: 'The body must not have a content encoding.' },
  body_aborted: { status: 400, message: 'The body is incomplete.' },
} satisfies Record<BodyError['code'], Presentation>;

/**
 * The answer where there is too much work: of the caller's own, 429, or than we can do, 503. The interface's closed tables
 * have neither, so it is 500 there. A client may repeat each.
 *
 * @param operation undefined if the request was refused before it was known, and names none
 */
export function presentOverload(isOfCaller: boolean, operation: Operation | undefined): Presentation {
  if (operation?.family === 'Interns') return { ...SIGNING.internal_error, headers: RETRY };
  if (operation?.isClosed) return { ...FAILED, headers: RETRY };
  return isOfCaller
    ? {
        status: 429,
        message: 'Too many requests of this caller are in progress. Repeat it later.',
        headers: RETRY,
      }
    : { status: 503, message: 'The service is overloaded. Repeat the request later.', headers: RETRY };
}

/** The budgets of the caller; the others are those of the process. */
const OF_CALLER: readonly Budget[] = ['account', 'address', 'connection'];

export const isOfCaller = (budget: Budget): boolean => OF_CALLER.includes(budget);

/** Whether the request may succeed when it is repeated: we had too little of something. */
function isOverload(error: unknown): boolean {
  if (error instanceof IdentityError) return error.code === 'issuer_unavailable';
  return [BusyError, DeadlineError, StoreUnavailable].some((kind) => error instanceof kind);
}

/**
 * The answer to a failure. The API has 403 and 400 only for some operations: otherwise a credential of the wrong kind
 * gets 401, and an unacceptable parameter gets 404. Only intern operations have metadata.
 */
export function present(error: unknown, operation: Operation): Presentation {
  const isIntern = operation.family === 'Interns';
  if (error instanceof AdminError) {
    const isAbsent = error.code === 'not_found';
    const refusal = isAbsent
      ? new Refusal('not_found')
      : new Refusal('invalid_parameters', `${error.message}.`);
    return present(refusal, operation);
  }
  if (error instanceof IdentityError && error.code === 'bearer_refused') return TERMS.bearer_refused;
  if (error instanceof Refusal) {
    const { reason, ...terms } = termsOf(error.code, operation);
    return { message: error.message, ...terms, ...(isIntern && reason !== undefined && { reason }) };
  }
  if (error instanceof IdentityError && error.code === 'certificate_bound') return SIGNING.certificate_bound;
  if (error instanceof IdentityError && error.code === 'issuer_misconfigured')
    return isIntern ? SIGNING.configuration_error : MISCONFIGURED;
  if (error instanceof DpopError) {
    const { reason: _, ...terms }: Presentation = DPOP_REFUSALS[error.code];
    return terms.status === 403 && !operation.refusals.includes(403) ? { ...terms, status: 401 } : terms;
  }
  if (error instanceof BodyError) return BODY_TERMS[error.code];
  if (isIntern && error instanceof DeadlineError) return presentDeadline(error.deadlineMs);
  if (error instanceof StoreUnavailable && error.code === 'contended' && operation.refusals.includes(409)) {
    return CONTENDED;
  }
  if (isOverload(error))
    return presentOverload(error instanceof BusyError && isOfCaller(error.budget), operation);
  return isIntern ? SIGNING.internal_error : FAILED;
}

const FAILED: Presentation = { status: 500, message: 'The request could not be completed. Try again later.' };

/** Of a setting for the issuer; only sessions meet it. */
const MISCONFIGURED: Presentation = {
  status: 500,
  message: 'The service cannot check this session as it is configured.',
};

function termsOf(code: RefusalCode, { refusals, invalidExample }: Operation): Terms {
  if ((code === 'management_key_required' || code === 'access_revoked') && !refusals.includes(403)) {
    return { ...TERMS.bearer_refused, message: TERMS[code].message };
  }
  if (code === 'invalid_parameters' && invalidExample === undefined) return TERMS.not_found;
  return TERMS[code];
}
