import { setTimeout as pause } from 'node:timers/promises';
import type { TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import { requireSafeAddress } from '../core/address.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { holdsScope } from '../core/scopes.ts';
import type { Grant } from '../core/session.ts';
import { startCallbackServer } from './callback-server.ts';
import { type Issuer, offers, provingWith, resourceOf, toGrant } from './issuer.ts';
import { isPassing, oauthCodeOf, toIssuerFailure } from './issuer-failure.ts';
import type { PrivateJwk } from './proof-key.ts';

/** The user, from the validated ID token, and the granted tokens. */
export interface SignIn {
  readonly subject: string;
  readonly name: string | null;
  readonly grant: Grant;
}

export interface SignInRequest {
  readonly scope: string;
  /** Value of the `resource` parameter (RFC 8707); null to send none. */
  readonly resource: string | null;
  /** Whether the person is to agree again, although they did before. */
  readonly consent: boolean;
  /** Port of the redirect address; any free one if undefined. */
  readonly redirectPort?: number | undefined;
  /** The key to bind the tokens to; absent for bearer tokens. */
  readonly key?: PrivateJwk | undefined;
  /** Only a sign-in from now on counts, not one that the issuer remembers (`max_age` of OpenID Connect Core 1.0). */
  readonly fresh?: boolean | undefined;
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
}

export interface DevicePrompt {
  readonly userCode: string;
  readonly address: string;
  /** The same URL including the code, if the issuer offers one. */
  readonly completeAddress: string | undefined;
}

/**
 * Authorization code with PKCE (S256), state, nonce and the issuer check of RFC 9207, on a loopback redirect (RFC 8252,
 * section 7.3). `show` gets the URL to open. The claims and the signature of the ID token are checked. Throws CliError
 * `issuer_refused`, `sign_in_failed`, `sign_in_timed_out`, `interrupted`, or the connection errors of
 * `toIssuerFailure`.
 */
export async function signInByCode(
  issuer: Issuer,
  asked: SignInRequest,
  show: (url: string) => void,
): Promise<SignIn> {
  const { client, config } = issuer;
  if (!offers(issuer, 'authorization_endpoint')) {
    const next = 'Sign in with a code: ori login --device';
    throw new CliError('sign_in_method_missing', {
      issuer: issuer.address,
      method: 'a sign-in with a browser',
      next,
    });
  }
  const [verifier, state, nonce] = [
    client.randomPKCECodeVerifier(),
    client.randomState(),
    client.randomNonce(),
  ];
  client.enableNonRepudiationChecks(config);
  await using callback = await startCallbackServer(state, asked.redirectPort);
  const startedAt = issuerTime(issuer);
  const url = authorizationUrl(issuer, {
    redirect_uri: callback.redirectUri,
    scope: asked.scope,
    ...resourceOf(asked),
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...promptOf(asked),
  });
  show(url.href);
  const visit = await callback.visited(asked.waitSeconds, asked.signal);
  try {
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce };
    const proving = await provingWith(issuer, asked.key);
    const parameters = resourceOf(asked);
    const tokens = await client.authorizationCodeGrant(config, visit.url, checks, parameters, proving);
    const signIn = toSignIn(tokens, asked);
    requireFresh(issuer, asked, tokens, startedAt);
    await visit.answer('signed in', signIn.name ?? signIn.subject);
    return signIn;
  } catch (error) {
    const failure = ofSignIn(toIssuerFailure(error, issuer.address, asked.signal));
    await visit.answer(oauthCodeOf(error) === 'access_denied' ? 'denied' : 'failed');
    throw failure;
  }
}

/**
 * Device authorization (RFC 8628): `show` gets the code and the URL where the user enters it. Polls until then, more
 * slowly if the issuer asks for that, and ignores temporary network failures. Throws like `signInByCode`, and
 * `sign_in_method_missing`.
 */
export async function signInByDevice(
  issuer: Issuer,
  asked: SignInRequest,
  show: (prompt: DevicePrompt) => void,
): Promise<SignIn> {
  const { client, config } = issuer;
  if (!offers(issuer, 'device_authorization_endpoint')) {
    const next = 'Sign in with a browser: ori login';
    throw new CliError('sign_in_method_missing', { issuer: issuer.address, method: 'the device flow', next });
  }
  let seconds = asked.waitSeconds;
  let timeUp: AbortSignal | undefined;
  try {
    client.enableNonRepudiationChecks(config);
    const startedAt = issuerTime(issuer);
    const started = await client.initiateDeviceAuthorization(config, {
      scope: asked.scope,
      ...resourceOf(asked),
      ...(asked.fresh && FRESH),
    });
    requireSafeAddress(started.verification_uri, 'issuer endpoint');
    const complete = started.verification_uri_complete;
    if (complete !== undefined) requireSafeAddress(complete, 'issuer endpoint');
    show({
      userCode: started.user_code,
      address: started.verification_uri,
      completeAddress: complete,
    });
    seconds = Math.min(started.expires_in, seconds);
    timeUp = AbortSignal.timeout(seconds * 1000);
    const signal = AbortSignal.any([asked.signal, timeUp]);
    const tokens = await pollDevice(issuer, started, asked, signal);
    requireFresh(issuer, asked, tokens, startedAt);
    return toSignIn(tokens, asked);
  } catch (error) {
    const failure = toIssuerFailure(error, issuer.address, asked.signal);
    if (failure.code === 'interrupted') throw failure;
    if (timeUp?.aborted || isExpired(error)) {
      throw new CliError('sign_in_timed_out', { seconds });
    }
    throw ofSignIn(failure);
  }
}

type Started = Awaited<ReturnType<Issuer['client']['initiateDeviceAuthorization']>>;
type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const INTERVAL_SECONDS_DEFAULT = 5;

async function pollDevice(
  issuer: Issuer,
  started: Started,
  asked: SignInRequest,
  signal: AbortSignal,
): Promise<Tokens> {
  const { client, config } = issuer;
  const proving = await provingWith(issuer, asked.key);
  const parameters = { device_code: started.device_code, ...resourceOf(asked) };
  let seconds = started.interval ?? INTERVAL_SECONDS_DEFAULT;
  for (;;) {
    // The signal ends a longer wait, and a timer beyond 24 days would end at once.
    await pause(Math.min(seconds, asked.waitSeconds) * 1000, undefined, { signal });
    try {
      return await client.genericGrantRequest(config, DEVICE_GRANT, parameters, proving);
    } catch (error) {
      const code = oauthCodeOf(error);
      const isPassed = isPassing(toIssuerFailure(error, issuer.address, signal));
      if (signal.aborted || !(isPassed || code === 'authorization_pending')) throw error;
      // RFC 8628, section 3.5.
      if (code === 'slow_down') seconds += 5;
      else if (code !== 'authorization_pending') seconds = Math.max(seconds, Math.min(2 * seconds, 60));
    }
  }
}

function toSignIn(tokens: Tokens, { key }: SignInRequest): SignIn {
  const claims = tokens.claims();
  if (claims === undefined) throw new CliError('sign_in_failed', { why: 'it has no ID token' });
  const { name: fullName, preferred_username: userName, email } = claims;
  const name = [fullName, userName, email].find((claim) => typeof claim === 'string');
  return { subject: claims.sub, name: name ?? null, grant: toGrant(tokens, key !== undefined) };
}

/** Each parameter once (RFC 6749, section 3.1), although the endpoint's own address may have some. */
function authorizationUrl({ client, config }: Issuer, parameters: Record<string, string>): URL {
  const own = new URL(config.serverMetadata().authorization_endpoint ?? '').searchParams.get('prompt');
  const url = client.buildAuthorizationUrl(config, parameters);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const prompts = [own, parameters['prompt']].flatMap((prompt) => prompt?.split(' ') ?? []);
  if (prompts.length > 0) url.searchParams.set('prompt', [...new Set(prompts)].join(' '));
  return url;
}

/** Some issuers know only one of both. */
const FRESH = { max_age: '0' };

function promptOf({ scope, fresh, consent }: SignInRequest): Record<string, string> {
  const prompts = [
    ...(fresh ? ['login'] : []),
    // Without it, an issuer may omit the refresh token (OpenID Connect Core 1.0, section 11).
    ...(consent && holdsScope(scope, 'offline_access') ? ['consent'] : []),
  ];
  return { ...(fresh && FRESH), ...(prompts.length > 0 && { prompt: prompts.join(' ') }) };
}

/** Unix seconds by the clock of the issuer, which dates sign-ins. */
const issuerTime = ({ answers }: Issuer): number =>
  Math.floor(Date.now() / 1000) - (answers.clockAheadSeconds() ?? 0);

/** A sign-in and the answer before it are dated in whole seconds. */
const DATED_SECONDS = 5;

/** Throws CliError `sign_in_not_fresh` if the ID token says that the person signed in before. */
function requireFresh(
  { address }: Issuer,
  { fresh }: SignInRequest,
  tokens: Tokens,
  startedAt: number,
): void {
  const { auth_time: at } = tokens.claims() ?? {};
  if (!fresh || typeof at !== 'number' || at >= startedAt - DATED_SECONDS) return;
  throw new CliError('sign_in_not_fresh', {
    issuer: address,
    at: new Date(Math.max(0, at) * 1000).toISOString(),
  });
}

// A refused code is not an ended session, because there was none yet.
function ofSignIn(failure: CliError): CliError {
  if (!isCliError(failure, 'session_ended')) return failure;
  const { why = 'invalid_grant' } = failure.facts;
  return new CliError('issuer_refused', { why, oauth: 'invalid_grant' }, { cause: failure });
}

function isExpired(error: unknown): boolean {
  return error instanceof Error && 'error' in error && error.error === 'expired_token';
}
