import type { SigningErrorCode } from '@ori/api/refusals';
import { z } from 'zod';
import { CliError, type CliErrorCode } from './errors.ts';
import type { ServerFacts, ServerRefusal } from './failures/facts.ts';
import { parseJson } from './parse-json.ts';
import { LISTING_SCOPE, SIGNING_SCOPE } from './scopes.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly traceId?: string | undefined;
}

const ErrorEnvelope = z.object({
  error: z.object({
    message: z.string(),
    metadata: z.object({ reason: z.string(), retryable: z.boolean() }).optional(),
  }),
});

/** The failure for a signing answer other than 200 and 401. */
export function refusalToSign(answer: ApiAnswer, internId: string): CliError {
  const refusal = readRefusal(answer);
  if (answer.status === 404) return new CliError('intern_not_found', { internId, ...factsIn(refusal) });
  return describe(answer, refusal, SIGNING_SCOPE);
}

/** The failure for a 401 to a token that the person gave. */
export function refusalOfGivenToken(baseUrl: string, answer: ApiAnswer): CliError {
  return new CliError('token_refused', { baseUrl, ...readRefusal(answer) });
}

/** The `error` of a 401's challenge (RFC 6750, section 3; RFC 9449, section 7.1). */
export function errorOfChallenge({ headers }: ApiAnswer): string | undefined {
  return /error="([a-z_]{1,64})"/.exec(String(headers['www-authenticate']))?.[1];
}

/** The failure for any other answer of the API from 400 on. A 401 comes here when no other token helps. */
export function refusalOfApi(answer: ApiAnswer): CliError {
  return describe(answer, readRefusal(answer), LISTING_SCOPE);
}

function describe(answer: ApiAnswer, refusal: ServerRefusal, scope: string): CliError {
  if (answer.status === 429) {
    return new CliError('rate_limited', {
      ...factsIn(refusal),
      retryAfterSeconds: retryAfterSeconds(answer.headers),
    });
  }
  if (answer.status === 403 && (refusal.reason === 'insufficient_scope' || challengesScope(answer.headers))) {
    return new CliError('scope_missing', { scope: scopeNamed(answer.headers) ?? scope, ...factsIn(refusal) });
  }
  if (answer.status === 401 && errorOfChallenge(answer) === 'insufficient_user_authentication')
    return new CliError('sign_in_too_old', factsIn(refusal));
  if (isKnown(refusal.reason)) return new CliError(BY_REASON[refusal.reason], refusal);
  if (answer.status >= 500 || answer.status === 408) return new CliError('api_failed', refusal);
  return new CliError('refused', refusal);
}

/** The failures with advice of their own, by the reason of a signing refusal. Of others, the status decides. */
const BY_REASON = {
  regional_host_refused: 'regional_host',
  dpop_required: 'bound_session_required',
  access_revoked: 'access_revoked',
  configuration_error: 'api_misconfigured',
} as const satisfies Partial<Record<SigningErrorCode, CliErrorCode>>;

function isKnown(reason: string | undefined): reason is keyof typeof BY_REASON {
  return reason !== undefined && Object.hasOwn(BY_REASON, reason);
}

/**
 * `Retry-After` in whole seconds (RFC 9110, section 10.2.3); undefined for a date, which our servers never send.
 */
export function retryAfterSeconds(headers: ApiAnswer['headers']): number | undefined {
  const value = headers['retry-after'];
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

// The 403 of the list has no reason in its body.
function challengesScope(headers: ApiAnswer['headers']): boolean {
  const challenge = headers['www-authenticate'];
  return typeof challenge === 'string' && challenge.includes('error="insufficient_scope"');
}

/** The scope that a refusal requires (RFC 6750, section 3). */
function scopeNamed(headers: ApiAnswer['headers']): string | undefined {
  const challenge = headers['www-authenticate'];
  return typeof challenge === 'string' ? /[\s,]scope="([^"]{1,255})"/.exec(challenge)?.[1] : undefined;
}

function factsIn({ status, requestId, traceId }: ServerRefusal): ServerFacts {
  return { status, requestId, traceId };
}

/** Reads a refusal of the API, in any of its envelopes. */
export function readRefusal({ status, headers, body, traceId }: ApiAnswer): ServerRefusal {
  const requestId = headers['x-request-id'];
  const facts = { status, requestId: typeof requestId === 'string' ? requestId : undefined, traceId };
  const envelope = ErrorEnvelope.safeParse(parseJson(body));
  if (!envelope.success) return { ...facts, message: 'no explanation that ori understands' };
  const { message, metadata } = envelope.data.error;
  return { ...facts, message, reason: metadata?.reason };
}
