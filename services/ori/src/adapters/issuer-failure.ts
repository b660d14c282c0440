import { explainSystemError, systemErrorCode } from '@ori/faces/system-error';
import { CliError } from '../core/errors.ts';

const REQUEST_SECONDS = 10;
const REFUSALS = new Set(['access_denied', 'login_required', 'consent_required', 'interaction_required']);

/**
 * Converts a failure of openid-client to a CliError. An OAuth error becomes `sign_in_denied`, `session_ended`
 * (invalid_grant) or `sign_in_failed`; a failed connection `unreachable` or `timed_out`; an answer that fails a check
 * `sign_in_failed`. Recognizes errors by names and codes, so that openid-client need not be loaded.
 */
export function toIssuerFailure(error: unknown, address: string, signal: AbortSignal): CliError {
  if (signal.aborted) return new CliError('interrupted', {});
  if (error instanceof CliError) return error;
  const peer = { what: 'the issuer', address };
  if (error instanceof Error && error.cause instanceof CliError) return error.cause;
  const oauth = oauthError(error);
  if (oauth !== undefined) return toRefusal(oauth, error);
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
  return new CliError('sign_in_failed', { why: error.message }, { cause: error });
}

/** True for a failure that may be temporary: no answer, or not in time. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof CliError && ['unreachable', 'timed_out', 'answer_not_understood'].includes(error.code)
  );
}

function toRefusal({ error, description }: OauthError, cause: unknown): CliError {
  const why = description === undefined ? error : `${error}: ${description}`;
  if (error === 'invalid_grant') return new CliError('session_ended', { why }, { cause });
  if (REFUSALS.has(error)) return new CliError('sign_in_denied', { why }, { cause });
  return new CliError('sign_in_failed', { why }, { cause });
}

interface OauthError {
  readonly error: string;
  readonly description?: string;
}

// ResponseBodyError and AuthorizationResponseError have the OAuth code in `error`.
function oauthError(error: unknown): OauthError | undefined {
  if (!(error instanceof Error) || !('error' in error) || typeof error.error !== 'string') return undefined;
  const description = 'error_description' in error ? error.error_description : undefined;
  return { error: error.error, ...(typeof description === 'string' ? { description } : {}) };
}
