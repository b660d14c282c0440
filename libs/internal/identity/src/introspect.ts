import { randomBytes } from 'node:crypto';
import { readBounded } from '@ori/remote-json';
import { createFairSemaphore } from '@ori/runtime/fair-semaphore';
import type { Secret } from '@ori/runtime/secret';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  None,
  ResponseBodyError,
  tokenIntrospection,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { checkIntrospection, type TokenFacts } from './access-token.ts';
import type { TokenExpectation } from './expectation.ts';
import { IdentityError, tokenRefused } from './identity-error.ts';
import type { Issuer, IssuerMetadata } from './issuer.ts';

export interface IntrospectionOptions {
  /** Default: that of the issuer's discovery document. */
  readonly endpoint?: string | undefined;
  readonly clientId: string;
  /** Undefined with `none` alone. */
  readonly clientSecret?: Secret | undefined;
  readonly authMethod: 'client_secret_basic' | 'client_secret_post' | 'none';
  readonly inFlightMax: number;
  /** Time limit for one token, in milliseconds: waiting for a slot, and the call. */
  readonly timeoutMs: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Some issuers call a refresh token active unless they are asked for an access token. */
const HINT = { token_type_hint: 'access_token' };
/** An introspection answer has only a few claims. */
const ANSWER_BYTES_MAX = 65_536;

/** The origin of an opaque token, which decides its place in the queue for introspection. */
export interface Arrival {
  /** The client's network: networks take turns. */
  readonly network: string;
  /** Whether it was valid before, as random tokens never were. Some slots are reserved for such tokens. */
  readonly isFamiliar: boolean;
}

/** Asks the issuer about one token. @throws IdentityError `bearer_refused`, `issuer_unavailable`, `issuer_misconfigured` */
export type Introspect = (
  token: string,
  expected: TokenExpectation,
  now: number,
  arrival: Arrival,
) => Promise<TokenFacts>;

/**
 * Introspection (RFC 7662) as the client `clientId`, with limits on concurrent calls and on the time of each. A quarter
 * of the slots is reserved for tokens that were valid before, so that a flood of random ones does not interrupt
 * sessions.
 */
export function createIntrospection(
  options: IntrospectionOptions,
  issuer: Pick<Issuer, 'metadata' | 'noteClock'>,
) {
  const { inFlightMax, timeoutMs } = options;
  const familiar = Math.ceil(inFlightMax / 4);
  const line = { budget: 'introspections', waitingPerKeyMax: 64, waitingMax: 1000 } as const;
  const familiarInPlace = createFairSemaphore({ ...line, permits: familiar });
  const strangerInPlace = createFairSemaphore({ ...line, permits: Math.max(1, inFlightMax - familiar) });
  let hasTypes = false;
  let client: { readonly endpoint: string; readonly configuration: Configuration } | undefined;

  async function configured(): Promise<Configuration> {
    const endpoint = options.endpoint ?? endpointOf(await issuer.metadata());
    if (client?.endpoint !== endpoint)
      client = { endpoint, configuration: configure(options, endpoint, issuer) };
    return client.configuration;
  }

  const introspect: Introspect = async (token, expected, now, { network, isFamiliar }) => {
    const configuration = await configured();
    const signal = AbortSignal.timeout(timeoutMs);
    const inPlace = isFamiliar ? familiarInPlace : strangerInPlace;
    const answer = await inPlace(network, { signal }, () =>
      tokenIntrospection(configuration, token, HINT),
    ).catch((cause) => {
      throw failureOf(cause);
    });
    const facts = checkIntrospection(answer, expected, now);
    // Where an access token is known to have it, one without is a refresh token, as of oidc-provider.
    if (answer.token_type !== undefined) hasTypes = true;
    else if (hasTypes && [answer.aud ?? []].flat().length === 0) throw tokenRefused('token_type');
    return facts;
  };
  return {
    introspect,
    /** Asks about a token that nobody has. @throws IdentityError `issuer_unavailable`, `issuer_misconfigured` */
    async check(): Promise<void> {
      const nobodys = randomBytes(32).toString('base64url');
      const { active } = await tokenIntrospection(await configured(), nobodys, HINT).catch((cause) => {
        const failure = failureOf(cause);
        if (failure.code !== 'bearer_refused') throw failure;
        throw misconfigured(`${failure.message}: check introspection.endpoint`, { cause });
      });
      if (active) throw misconfigured('the introspection endpoint calls a token active that nobody has');
    },
  };
}

const misconfigured = (message: string, options?: ErrorOptions) =>
  new IdentityError('issuer_misconfigured', message, options);

/** What the endpoint answers to a client that it will not accept. */
const REFUSED = [401, 403, 'invalid_client', 'unauthorized_client', 'insufficient_scope'];
/** There is no such endpoint, or it has moved for good: redirects are not followed. */
const NO_ENDPOINT = [301, 308, 404, 405, 410];

function failureOf(cause: unknown): IdentityError {
  const { status, code } = statusOf(cause);
  const said = [status, code].filter((part) => part !== undefined).join(' ');
  if (REFUSED.includes(code ?? '') || REFUSED.includes(status ?? 0)) {
    const fix = 'check clientId, clientSecret and authMethod of its introspection';
    return misconfigured(`the issuer refuses the introspection client (${said}): ${fix}`, { cause });
  }
  // Some issuers answer so to what is no token of theirs.
  if (status === 400)
    return new IdentityError('bearer_refused', `the issuer does not take the token (${said})`, {
      cause,
      claim: 'active',
    });
  if (NO_ENDPOINT.includes(status ?? 0))
    return misconfigured(`the introspection endpoint answers ${said}: check introspection.endpoint`, {
      cause,
    });
  if (Object(cause).code === 'OAUTH_INVALID_RESPONSE')
    return misconfigured('the introspection endpoint answers without active: check introspection.endpoint', {
      cause,
    });
  const explanation = said === '' ? undefined : `the introspection endpoint answers ${said}`;
  return new IdentityError('issuer_unavailable', 'the introspection failed', {
    cause,
    ...(explanation && { explanation }),
  });
}

/** The status and the OAuth code of an answer that openid-client refused. */
function statusOf(cause: unknown): { readonly status?: number; readonly code?: string } {
  if (cause instanceof ResponseBodyError) return { status: cause.status, code: cause.error };
  if (cause instanceof WWWAuthenticateChallengeError) return { status: cause.status };
  const response = cause instanceof Error ? cause.cause : undefined;
  return response instanceof Response ? { status: response.status } : {};
}

/** @throws IdentityError `issuer_misconfigured` without an endpoint on the origin of the issuer */
function endpointOf({ issuer, introspection_endpoint: endpoint }: IssuerMetadata): string {
  if (typeof endpoint === 'string' && URL.parse(endpoint)?.origin === new URL(issuer).origin) return endpoint;
  throw misconfigured(
    'the discovery document names no introspection endpoint on the origin of the issuer: set introspection.endpoint in the file of issuers',
  );
}

const AUTHENTICATION = {
  client_secret_basic: ClientSecretBasic,
  client_secret_post: ClientSecretPost,
  none: None,
} as const;

function configure(
  options: IntrospectionOptions,
  introspection_endpoint: string,
  issuer: Pick<Issuer, 'noteClock'>,
): Configuration {
  const { clientId, clientSecret, authMethod, timeoutMs } = options;
  const ask = options.fetch ?? fetch;
  const configuration = new Configuration(
    { issuer: new URL(introspection_endpoint).origin, introspection_endpoint },
    clientId,
    {},
    AUTHENTICATION[authMethod](clientSecret?.reveal() ?? ''),
  );
  configuration.timeout = timeoutMs / 1000;
  configuration[customFetch] = async (url, init) => {
    const response = await ask(url, { ...(init as RequestInit), redirect: 'manual' });
    issuer.noteClock(response.headers);
    return new Response(await readBounded(response, ANSWER_BYTES_MAX, new URL(url)), response);
  };
  // Whether plain http is permitted was already checked, for the issuer's own address or for the setting.
  if (introspection_endpoint.startsWith('http:')) allowInsecureRequests(configuration);
  return configuration;
}
