import { dirname } from 'node:path';
import { openBrowser } from '../adapters/browser.ts';
import { createProofKey, type Issuer, offersBinding, openIssuer } from '../adapters/issuer.ts';
import type { Keeper } from '../adapters/kept-secret.ts';
import { requireWritable } from '../adapters/private-file.ts';
import { type PrivateJwk, proofKeyOf, writeProofKey } from '../adapters/proof-key.ts';
import { fetchProtectedResource } from '../adapters/protected-resource.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { readSession, type SessionPlace, writeSession } from '../adapters/session-store.ts';
import {
  type DevicePrompt,
  type SignIn,
  type SignInRequest,
  signInByCode,
  signInByDevice,
} from '../adapters/sign-in.ts';
import { BASE_URL_DEFAULT } from '../core/address.ts';
import { CliError, isCliError } from '../core/errors.ts';
import type { Terms } from '../core/failures/facts.ts';
import { tellFallback, tellTerms, tellUnbound } from '../core/failures/session.ts';
import { chooseScope, requireGranted, SIGNING_SCOPE } from '../core/scopes.ts';
import { renewSession, type Session } from '../core/session.ts';
import { CLIENT_DEFAULT, foreignAudience, requireTrusted, type Trust } from '../core/trust.ts';
import { noteClock } from '../session/access.ts';
import { variable } from '../session/context.ts';
import { baseUrlToSignIn, type Profile } from '../session/profile.ts';
import { changeTrust, readTrust, storeTrust } from '../session/trust.ts';
import { forgetGiven, takeToken } from './take-token.ts';
import { describeSession, mayNotSign, nameOf } from './whoami.ts';

export const WAIT_SECONDS_DEFAULT = 300;

export interface LoginOptions {
  readonly oidc?: boolean;
  readonly device?: boolean;
  readonly browser: boolean;
  /** Required where the API has several, at the first sign-in of a profile. */
  readonly issuer?: string;
  readonly scope?: string;
  /** Do not bind the session to a key. */
  readonly unbound?: boolean;
  /** Do not accept a sign-in that the issuer remembers. */
  readonly fresh?: boolean;
  /** Accept what differs from the terms that the profile trusts. */
  readonly trust?: boolean;
  readonly timeout?: number;
  readonly redirectPort?: number;
  readonly withToken?: boolean;
  /** Only on the terms of an earlier sign-in, because nobody may read what is shown. */
  readonly asBefore?: boolean;
}

/** A session with the key that it is bound to, and the terms of its sign-in unless its token was given. */
interface NewSession {
  readonly session: Session;
  readonly key?: PrivateJwk | undefined;
  readonly terms?: Trust['signIn'];
}

/** Signs in at the issuer that the API names, or reads a given token, and stores the session. */
export async function login(context: Profile, options: LoginOptions): Promise<void> {
  const keeper = requireKeeper(context);
  const { place } = context;
  // A folder that cannot be written is found before the sign-in, not after it.
  for (const file of [place.file, place.keyFile]) await requireWritable(dirname(file));
  const baseUrl = baseUrlToSignIn(context, await lastSession(place));
  if (variable(context, 'ORI_TOKEN') !== undefined) {
    context.terminal.note(
      'ORI_TOKEN is set: other commands use it instead of this session until it is unset.',
    );
  }
  const made: NewSession = options.withToken
    ? { session: await takeToken(context, baseUrl) }
    : await signIn(context, baseUrl, options);
  const { session, key, terms } = made;
  const { why } = await withSessionLock(place.lock, context.interrupted, async () => {
    const keeping = { keeper: keeper ?? 'keychain', only: keeper !== undefined } as const;
    if (terms !== undefined)
      await storeTrust(context, baseUrl, () => ({ signIn: terms, refused: undefined }));
    if (options.withToken) await storeTrust(context, baseUrl, forgetGiven);
    if (key !== undefined)
      await writeProofKey(place, key, keeping, (await lastSession(place))?.key_thumbprint);
    return writeSession(place, session, keeping);
  });
  if (why !== undefined) context.terminal.note(tellFallback(why));
  report(context, session);
}

/** The value of `ORI_SESSION_STORE`; undefined means the keychain if this computer has one. */
function requireKeeper(context: Profile): Keeper | undefined {
  const wanted = variable(context, 'ORI_SESSION_STORE');
  if (wanted === undefined || wanted === 'keychain' || wanted === 'file') return wanted;
  throw new CliError('usage', { detail: 'ORI_SESSION_STORE: expected "keychain" or "file".' });
}

/** Throws CliError `sign_in_differs` before the sign-in, or after it for what only the token shows. */
async function signIn(context: Profile, baseUrl: string, options: LoginOptions): Promise<NewSession> {
  const { terminal, interrupted } = context;
  const { signIn: trusted, refused } = await readTrust(context, baseUrl);
  if (trusted === undefined && options.asBefore) throw new CliError('not_signed_in', {});
  terminal.note(`Signing in to ${baseUrl}`);
  const choice = { named: options.issuer, last: trusted?.issuer };
  const api = await fetchProtectedResource(baseUrl, choice, interrupted).catch((error) => {
    const isNamed = baseUrl !== BASE_URL_DEFAULT || context.baseUrl !== undefined;
    throw isCliError(error, 'unreachable') && !isNamed ? new CliError('api_not_named', { baseUrl }) : error;
  });
  const client = variable(context, 'ORI_CLIENT_ID');
  const chosenNow = {
    ...(client !== undefined && { client }),
    ...(options.scope !== undefined && { scope: options.scope }),
    ...(options.unbound && { unbound: true }),
  };
  const there = trusted?.issuer === api.issuer ? trusted : undefined;
  const chosen = { ...there?.chosen, ...chosenNow };
  const clientId = chosen.client ?? api.clientId ?? there?.client ?? CLIENT_DEFAULT;
  const issuer = await openIssuer(api.issuer, clientId, interrupted);
  noteClock(context, issuer);
  const { scopes_supported, userinfo_endpoint } = issuer.config.serverMetadata();
  const offered = { resource: api.scopes, issuer: scopes_supported, toRequest: api.scopesToRequest };
  if (api.demandsBinding && !offersBinding(issuer))
    throw new CliError('binding_not_offered', { issuer: api.issuer });
  const asked: Terms = {
    issuer: api.issuer,
    client: clientId,
    scope: chooseScope(offered, chosen.scope),
    resource: api.resource !== null,
    bound: offersBinding(issuer) && (api.demandsBinding || !chosen.unbound),
    audience: trusted?.audience ?? '',
  };
  const chosenTerms = { issuer: options.issuer, client, scope: options.scope, bound: chosenNow.unbound };
  const isAccepted = (member: keyof Terms, now: Terms) =>
    (options.trust === true && member !== 'bound' && refused?.[member] === now[member]) ||
    (member in chosenTerms && chosenTerms[member as keyof typeof chosenTerms] !== undefined);
  terminal.note(tellTerms(asked));
  /** What is refused is shown to the person, who may then accept it, and nothing else, with `--trust`. */
  const requireTerms = async (terms: Terms) => {
    try {
      requireTrusted(terms, trusted, isAccepted);
    } catch (error) {
      if (!options.asBefore) await changeTrust(context, baseUrl, () => ({ refused: terms }));
      throw error;
    }
  };
  await requireTerms(asked);
  const key = asked.bound ? await createProofKey(issuer) : undefined;
  const signedIn = await askPerson(context, issuer, options, {
    scope: asked.scope,
    resource: api.resource,
    consent: api.consent,
    redirectPort: options.redirectPort ?? api.redirectPort,
    key,
    fresh: options.fresh,
    waitSeconds: options.timeout ?? WAIT_SECONDS_DEFAULT,
    signal: interrupted,
  });
  const { subject, name, grant } = signedIn;
  const { bound, accessToken } = grant;
  const now = context.nowSeconds();
  const blank = {
    version: 1,
    base_url: baseUrl,
    resource: api.resource,
    issuer: api.issuer,
    client_id: clientId,
    subject,
    name,
    scope: asked.scope,
    refresh_token: null,
    signed_in_at: now,
    ...(key !== undefined && bound && { key_thumbprint: proofKeyOf(key).thumbprint }),
  } as const;
  const session = renewSession(blank, grant, now);
  requireGranted(chosen.scope, session.scope);
  const audience = foreignAudience(accessToken, [baseUrl, api.issuer, userinfo_endpoint]).join(' ');
  const got = { ...asked, bound, audience };
  await requireTerms(got);
  if (!bound) terminal.note(tellUnbound(chosen.unbound, asked.bound));
  return { session, key: bound ? key : undefined, terms: { ...got, chosen } };
}

function askPerson(
  context: Profile,
  issuer: Issuer,
  options: LoginOptions,
  asked: SignInRequest,
): Promise<SignIn> {
  const { waitSeconds } = asked;
  if (options.device) return signInByDevice(issuer, asked, (prompt) => showDevice(context, prompt));
  return signInByCode(issuer, asked, (url) => {
    context.terminal.event(
      { authorization_url: url, wait_seconds: waitSeconds },
      'Open this page to sign in:',
      `  ${url}`,
      `Waiting up to ${waitSeconds} s for you to finish there (Ctrl-C to stop) …`,
    );
    if (options.browser) void startBrowser(context, url);
  });
}

function showDevice({ terminal }: Profile, { address, userCode, completeAddress }: DevicePrompt): void {
  terminal.event(
    { verification_uri: address, user_code: userCode, verification_uri_complete: completeAddress },
    'On any device, open',
    `  ${address}`,
    'and enter the code',
    `  ${userCode}`,
    ...(completeAddress === undefined ? [] : ['or open', `  ${completeAddress}`]),
    'Waiting …',
  );
}

async function startBrowser({ environment, terminal }: Profile, url: string): Promise<void> {
  if (!(await openBrowser(url, environment))) {
    terminal.note('Cannot start a browser here: open the page yourself, or use --device.');
  }
}

function report(context: Profile, session: Session): void {
  context.terminal.result(describeSession(session), `Signed in as ${nameOf(session)}.`);
  if (mayNotSign(session)) {
    context.terminal.note(`This session cannot sign: it was not granted ${SIGNING_SCOPE}.`);
  }
  if (session.refresh_token === null && session.client_id !== null) {
    context.terminal.note('The issuer gave no refresh token: sign in again when the access token expires.');
  }
}

// Read only for its base address and its key. Errors are ignored, because the new session replaces it.
async function lastSession(place: SessionPlace): Promise<Session | undefined> {
  try {
    return await readSession(place);
  } catch {
    return undefined;
  }
}
