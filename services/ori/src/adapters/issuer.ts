import type {
  Configuration,
  CustomFetch,
  DPoPHandle,
  TokenEndpointResponse,
  TokenEndpointResponseHelpers,
} from 'openid-client';
import { isLoopback, requireSafeAddress } from '../core/address.ts';
import { isClockWrong } from '../core/clock.ts';
import { CliError } from '../core/errors.ts';
import { isBearer } from '../core/given-token.ts';
import type { Grant } from '../core/session.ts';
import { oauthCodeOf, ofRefresh, toIssuerFailure } from './issuer-failure.ts';
import { createIssuerFetch, type IssuerFetch } from './issuer-fetch.ts';
import type { PrivateJwk } from './proof-key.ts';

/** openid-client is loaded on the first request to an issuer, because most commands make none. */
type OpenIdClient = typeof import('openid-client');

/** An issuer with fetched metadata and checked endpoints. */
export interface Issuer {
  readonly client: OpenIdClient;
  readonly config: Configuration;
  readonly address: string;
  readonly clientId: string;
  readonly answers: Pick<IssuerFetch, 'clockAheadSeconds' | 'lastRefreshToken'>;
}

const REQUEST_SECONDS = 10;
/** The algorithm of `ori`'s DPoP proofs, which every issuer with DPoP supports. */
const PROOF_ALGORITHM = 'ES256';

/**
 * Discovers the issuer (OpenID Connect Discovery 1.0; the metadata must name the requested issuer). Does not follow
 * redirects, limits the size of answers, and uses the issuer's clock if this computer's is wrong. Throws CliError
 * `issuer_not_usable` if the issuer or one of its endpoints uses plain http and is not on this machine; `unreachable`,
 * `timed_out` or `answer_not_understood` if there is no usable answer.
 */
export async function openIssuer(address: string, clientId: string, signal: AbortSignal): Promise<Issuer> {
  const url = requireSafeAddress(address, 'issuer');
  const client = await import('openid-client');
  const execute = isLoopback(url) ? [client.allowInsecureRequests] : [];
  const answers = createIssuerFetch(address, signal);
  const send: CustomFetch = (input, init) => answers.fetch(input, init as RequestInit);
  try {
    const found = await client.discovery(url, clientId, undefined, client.None(), {
      execute,
      timeout: REQUEST_SECONDS,
      [client.customFetch]: send,
    });
    requireSafeEndpoints(found);
    const aheadSeconds = answers.clockAheadSeconds();
    if (!isClockWrong(aheadSeconds)) return { client, config: found, address, clientId, answers };
    // Tokens are validated by the issuer's own time, which arrives over the same connection.
    const metadata = { [client.clockSkew]: -aheadSeconds };
    const config = new client.Configuration(found.serverMetadata(), clientId, metadata, client.None());
    for (const set of execute) set(config);
    config.timeout = REQUEST_SECONDS;
    config[client.customFetch] = send;
    return { client, config, address, clientId, answers };
  } catch (error) {
    const failure = toIssuerFailure(error, address, signal);
    const { status } = Object(Object(error).cause) as { readonly status?: unknown };
    const isAbsent = failure.code === 'answer_not_understood' && (status === 404 || status === 410);
    throw isAbsent ? new CliError('no_openid_provider', { address, status }, { cause: failure }) : failure;
  }
}

export function offers(
  issuer: Issuer,
  endpoint: 'authorization_endpoint' | 'device_authorization_endpoint' | 'revocation_endpoint',
): boolean {
  return issuer.config.serverMetadata()[endpoint] !== undefined;
}

/**
 * Whether the issuer binds tokens to a key (RFC 9449, section 5.1). Its own metadata says so: what the API says about
 * itself passes through servers that could leave it out.
 */
export function offersBinding(issuer: Issuer): boolean {
  const { dpop_signing_alg_values_supported: algorithms } = issuer.config.serverMetadata();
  return algorithms?.includes(PROOF_ALGORITHM) ?? false;
}

/**
 * Redeems the refresh token (RFC 6749, section 6). Throws CliError `session_ended` if the issuer refuses it, or if the
 * answer names another subject (OpenID Connect Core 1.0, section 12.2); `session_not_renewed` for any other refusal.
 */
export async function refreshGrant(
  issuer: Issuer,
  session: { refreshToken: string; resource: string | null; subject: string; key?: PrivateJwk | undefined },
  signal: AbortSignal,
): Promise<Grant> {
  try {
    const proving = await provingWith(issuer, session.key);
    const { client, config } = issuer;
    const parameters = resourceOf(session);
    const tokens = await client.refreshTokenGrant(config, session.refreshToken, parameters, proving);
    const subject = tokens.claims()?.sub;
    if (subject !== undefined && subject !== session.subject) {
      throw new CliError('session_ended', { why: 'the issuer now names another user' });
    }
    const grant = toGrant(tokens, session.key !== undefined);
    if (session.key !== undefined && !grant.bound)
      throw new CliError('session_ended', { why: 'the issuer no longer binds its token to the key' });
    return grant;
  } catch (error) {
    throw ofRefresh(toIssuerFailure(error, issuer.address, signal));
  }
}

/** The `resource` parameter of a request to the issuer, if it gets one (RFC 8707). */
export const resourceOf = ({ resource }: { resource: string | null }): { resource?: string } =>
  resource === null ? {} : { resource };

export async function createProofKey({ client }: Issuer): Promise<PrivateJwk> {
  const { privateKey } = await client.randomDPoPKeyPair(PROOF_ALGORITHM, { extractable: true });
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', privateKey);
  return { kty, crv, x, y, d } as PrivateJwk;
}

/** Options for a grant whose tokens are bound to the key; openid-client handles nonce challenges itself. */
export async function provingWith(
  { client, config }: Issuer,
  key: PrivateJwk | undefined,
): Promise<{ DPoP?: DPoPHandle }> {
  if (key === undefined) return {};
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const { d: _, ...publicJwk } = key;
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey('jwk', { ...key }, algorithm, false, ['sign']),
    crypto.subtle.importKey('jwk', publicJwk, algorithm, true, ['verify']),
  ]);
  return { DPoP: client.getDPoPHandle(config, { privateKey, publicKey }) };
}

/** Revokes a token at the issuer (RFC 7009). */
export async function revokeToken(
  issuer: Issuer,
  token: string,
  kind: 'refresh_token' | 'access_token',
  signal: AbortSignal,
): Promise<void> {
  try {
    await issuer.client.tokenRevocation(issuer.config, token, { token_type_hint: kind });
  } catch (error) {
    // Some issuers answer 204 instead of the 200 of section 2.2. One may keep access tokens until they end (2.2.1).
    const isDone = error instanceof Error && error.cause instanceof Response && error.cause.ok;
    const isKept = kind === 'access_token' && oauthCodeOf(error) === 'unsupported_token_type';
    if (!isDone && !isKept) throw toIssuerFailure(error, issuer.address, signal);
  }
}

/** A token response without its internal fields. */
export function toGrant(
  tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
  proven: boolean,
): Grant {
  const bound = proven && tokens.token_type === 'dpop';
  if ((tokens.token_type !== 'bearer' && !bound) || !isBearer(tokens.access_token)) {
    throw new CliError('sign_in_failed', {
      why: `its access token is no ${proven ? 'DPoP' : 'bearer'} token`,
    });
  }
  return {
    accessToken: tokens.access_token,
    bound,
    expiresInSeconds: tokens.expiresIn(),
    refreshToken: tokens.refresh_token,
    scope: tokens.scope,
  };
}

// allowInsecureRequests applies to all endpoints, so each is checked: a loopback issuer must not have tokens sent to
// other hosts unencrypted.
function requireSafeEndpoints(config: Configuration): void {
  const metadata = config.serverMetadata();
  for (const endpoint of [
    metadata.authorization_endpoint,
    metadata.token_endpoint,
    metadata.device_authorization_endpoint,
    metadata.revocation_endpoint,
    metadata.jwks_uri,
  ]) {
    if (endpoint !== undefined) requireSafeAddress(endpoint, 'issuer endpoint');
  }
}
