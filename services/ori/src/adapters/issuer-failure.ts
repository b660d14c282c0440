import { explainSystemError, systemErrorCode } from '@ori/faces/system-error';
import { CliError } from '../core/errors.ts';

const REQUEST_SECONDS = 10;
/** What an issuer says of its own state; some say it with status 400. */
const BUSY = new Set(['temporarily_unavailable', 'server_error', 'slow_down', 'too_many_requests']);

/**
 * Converts a failure of openid-client to a CliError: the one judgement of an issuer's answers, for signing in, polling
 * and renewing. What the issuer refused becomes `issuer_busy`, `session_ended` (invalid_grant) or `issuer_refused`; a failed
 * connection `unreachable` or `timed_out`; what is no answer of an issuer `answer_not_understood`; what fails a check of
 * ours `sign_in_failed`.
 * Recognizes errors by names and codes, so that openid-client need not be loaded.
 */
export function toIssuerFailure(error: unknown, address: string, signal: AbortSignal): CliError {
  if (signal.aborted) return new CliError('interrupted', {});
  if (error instanceof CliError) return error;
  const peer = { what: 'the issuer', address };
  if (error instanceof Error && error.cause instanceof CliError) return error.cause;
  const oauth = oauthError(error);
  if (oauth !== undefined) return toRefusal(oauth, address, error);
  if (!(error instanceof Error)) return new CliError('sign_in_failed', { why: 'for a reason unknown' });
  const code = systemErrorCode(error);
  if (code === 'OAUTH_TIMEOUT') return new CliError('timed_out', { ...peer, seconds: REQUEST_SECONDS });
  if (error instanceof TypeError && error.cause !== undefined) {
    return new CliError('unreachable', { ...peer, why: explainSystemError(error) }, { cause: error });
  }
  if (code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' || code === 'OAUTH_RESPONSE_IS_NOT_JSON') {
    const status = error.cause instanceof Response ? ` (${error.cause.status})` : '';
    return new CliError(
      'answer_not_understood',
      { ...peer, why: `${error.message}${status}` },
      { cause: error },
    );
  }
  return new CliError('sign_in_failed', { why: faultOf(error) }, { cause: error });
}

/** openid-client names the claim that it refuses in the cause alone, and no values. */
function faultOf({ message, cause }: Error): string {
  const inner = cause instanceof Error ? cause : { message, cause };
  const { claims, claim, body, attribute, expected } = Object(inner.cause) as Readonly<
    Record<string, unknown>
  >;
  const found = own(claims, claim) ?? own(body, attribute);
  const parts = [tell(found), tell(expected, 'instead of ')].filter((part) => part !== '');
  const isShown = SHOWN.includes(String(claim ?? attribute)) && parts.length > 0;
  return `${inner.message}${isShown ? ` (${parts.join(' ')})` : ''}`;
}

/** Claims and members whose values are no secret. */
const SHOWN = ['iss', 'aud', 'azp', 'issuer', 'auth_time', 'exp', 'iat', 'nbf'];

const own = (of: unknown, name: unknown): unknown =>
  typeof of === 'object' && of !== null && typeof name === 'string' && Object.hasOwn(of, name)
    ? (of as Readonly<Record<string, unknown>>)[name]
    : undefined;

const tell = (value: unknown, before = ''): string =>
  value === undefined ? '' : `${before}${[value].flat().join(', ').slice(0, 400)}`;

const PASSING = ['unreachable', 'timed_out', 'answer_not_understood', 'issuer_busy'];

/** True for a failure that may be temporary: no answer, not in time, or one that is about the issuer's own state. */
export function isPassing(error: unknown): boolean {
  return error instanceof CliError && PASSING.includes(error.code);
}

/**
 * The failure of a refresh that the issuer refused in another way than RFC 6749, section 5.2, has for the token, or
 * whose answer fails a check: trying again may help, and signing in does.
 */
export function ofRefresh(failure: CliError): CliError {
  const { why } = failure.facts as { why?: string };
  const isAboutSignIn = failure.code === 'sign_in_failed' || failure.code === 'issuer_refused';
  if (!isAboutSignIn) return failure;
  const { oauth } = failure.facts as { oauth?: string };
  return new CliError('session_not_renewed', { why: why ?? 'refused', oauth }, { cause: failure });
}

function toRefusal({ error, description, status }: OauthError, address: string, cause: unknown): CliError {
  // Our sentences end with a full stop of their own.
  const why = description === undefined ? error : `${error}: ${description.replace(/\.+$/, '')}`;
  if (status === 429 || (status ?? 0) >= 500 || BUSY.has(error))
    return new CliError('issuer_busy', { address, why }, { cause });
  if (error === 'invalid_grant') return new CliError('session_ended', { why }, { cause });
  return new CliError('issuer_refused', { why, oauth: error }, { cause });
}

interface OauthError {
  readonly error: string;
  readonly description?: string;
  readonly status?: number;
}

/** The OAuth code of a ResponseBodyError or an AuthorizationResponseError. */
export const oauthCodeOf = (error: unknown): string | undefined => oauthError(error)?.error;

// Both have the code in `error`.
function oauthError(error: unknown): OauthError | undefined {
  if (!(error instanceof Error) || !('error' in error) || typeof error.error !== 'string') return undefined;
  const description = 'error_description' in error ? error.error_description : undefined;
  const status = 'status' in error ? error.status : undefined;
  return {
    error: error.error,
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof status === 'number' ? { status } : {}),
  };
}
