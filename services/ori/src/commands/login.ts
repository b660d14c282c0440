import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { openBrowser } from '../adapters/browser.ts';
import { requireTakenToken } from '../adapters/interns.ts';
import { createProofKey, type Issuer, openIssuer } from '../adapters/issuer.ts';
import { requireWritable } from '../adapters/private-file.ts';
import { type PrivateJwk, proofKeyOf, removeProofKey, writeProofKey } from '../adapters/proof-key.ts';
import { fetchProtectedResource } from '../adapters/protected-resource.ts';
import { bodyOfStream } from '../adapters/request-body.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { type Keeper, readSession, type SessionPlace, writeSession } from '../adapters/session-store.ts';
import { type DevicePrompt, type SignIn, signInByCode, signInByDevice } from '../adapters/sign-in.ts';
import { chooseBinding } from '../core/binding.ts';
import { CliError } from '../core/errors.ts';
import { sessionOfToken } from '../core/given-token.ts';
import { chooseScope, requireGranted, SIGNING_SCOPE } from '../core/scopes.ts';
import { renewSession, type Session } from '../core/session.ts';
import { tellFallback } from '../text/session-sentences.ts';
import { credentialOf, noteClock } from './access.ts';
import { baseUrlToSignIn, type Context, sessionPlace, variable } from './context.ts';
import { describeSession, mayNotSign, nameOf } from './whoami.ts';

const TOKEN_BYTES_MAX = 64 * 1024;
const CLIENT_ID_DEFAULT = 'ori-cli';
const WAIT_SECONDS_DEFAULT = 300;

export interface LoginOptions {
  readonly oidc?: boolean;
  readonly device?: boolean;
  readonly browser: boolean;
  /** Required where the API has several, at the first sign-in of a profile. */
  readonly issuer?: string;
  readonly scope?: string;
  /** Do not bind the session to a key. */
  readonly unbound?: boolean;
  readonly timeout?: number;
  readonly redirectPort?: number;
  readonly withToken?: boolean;
}

/** Signs in at the issuer that the API names, or reads a given token, and stores the session. */
export async function login(context: Context, options: LoginOptions): Promise<void> {
  const keeper = requireKeeper(context);
  const place = sessionPlace(context);
  // A folder that cannot be written is found before the sign-in, not after it.
  await requireWritable(dirname(place.file));
  if (keeper === 'file') await requireWritable(dirname(place.keyFile));
  const last = await lastSession(place);
  const baseUrl = baseUrlToSignIn(context, last);
  if (variable(context, 'ORI_TOKEN') !== undefined) {
    context.terminal.note(
      'ORI_TOKEN is set: other commands use it instead of this session until it is unset.',
    );
  }
  const { session, key } = options.withToken
    ? { session: await takeToken(context, baseUrl) }
    : await signIn(context, { baseUrl, last }, options);
  const { why } = await withSessionLock(place.lock, context.interrupted, async () => {
    const keeping = { keeper: keeper ?? 'keychain', only: keeper !== undefined } as const;
    if (key === undefined) await removeProofKey(place);
    else await writeProofKey(place, key, keeping);
    return writeSession(place, session, keeping);
  });
  if (why !== undefined) context.terminal.note(tellFallback(why));
  report(context, session);
}

/** The value of `ORI_SESSION_STORE`; undefined means the keychain if this computer has one. */
function requireKeeper(context: Context): Keeper | undefined {
  const wanted = variable(context, 'ORI_SESSION_STORE');
  if (wanted === undefined || wanted === 'keychain' || wanted === 'file') return wanted;
  throw new CliError('usage', { detail: 'ORI_SESSION_STORE: expected "keychain" or "file".' });
}

async function signIn(
  context: Context,
  { baseUrl, last }: { baseUrl: string; last: Session | undefined },
  options: LoginOptions,
): Promise<{ session: Session; key?: PrivateJwk }> {
  const { terminal, interrupted } = context;
  terminal.note(`Signing in to ${baseUrl}`);
  const lastHere = last?.base_url === baseUrl ? last : undefined;
  const choice = { named: options.issuer, last: lastHere?.issuer ?? undefined };
  const resource = await fetchProtectedResource(baseUrl, choice, interrupted);
  const clientId =
    variable(context, 'ORI_CLIENT_ID') ?? resource.clientId ?? lastClient(resource.issuer, last);
  const issuer = await openIssuer(resource.issuer, clientId, interrupted);
  noteClock(context, issuer);
  const offered = {
    resource: resource.scopes,
    issuer: issuer.config.serverMetadata().scopes_supported,
    toRequest: resource.scopesToRequest,
  };
  const chosen = options.scope ?? lastHere?.chosen_scope;
  if (options.scope === undefined && chosen !== undefined) {
    terminal.note(
      `Requesting only ${chosen}, as at the last sign-in of this profile; --scope requests others.`,
    );
  }
  const scope = chooseScope(offered, chosen);
  terminal.detail(`Issuer ${resource.issuer}, client ${clientId}, scope ${scope}`);
  const waitSeconds = options.timeout ?? WAIT_SECONDS_DEFAULT;
  const binding = { isDemanded: resource.demandsBinding, last: lastHere, unbound: options.unbound === true };
  const key = await chooseKey(context, issuer, binding);
  const redirectPort = options.redirectPort ?? resource.redirectPort;
  const asked = { scope, resource: resource.resource, redirectPort, key, waitSeconds, signal: interrupted };
  const signedIn = options.device
    ? await signInByDevice(issuer, asked, (prompt) => showDevice(context, prompt))
    : await signInByCode(issuer, asked, (url) => {
        terminal.event(
          { authorization_url: url, wait_seconds: waitSeconds },
          'Open this page to sign in:',
          `  ${url}`,
          `Waiting up to ${waitSeconds} s for you to finish there (Ctrl-C to stop) …`,
        );
        if (options.browser) void startBrowser(context, url);
      });
  const at = { baseUrl, resource: resource.resource, issuer: issuer.address, clientId, scope };
  const session = {
    ...newSession(context, at, signedIn),
    ...(chosen !== undefined && { chosen_scope: chosen }),
  };
  requireGranted(chosen, session.scope);
  if (key === undefined || !signedIn.grant.bound) return { session };
  return { session: { ...session, key_thumbprint: proofKeyOf(key).thumbprint }, key };
}

function lastClient(issuer: string, last: Session | undefined): string {
  return (last?.issuer === issuer ? last.client_id : undefined) ?? CLIENT_ID_DEFAULT;
}

/** The key to bind the session to; undefined for an unbound session, which is noted on stderr. */
async function chooseKey(
  { terminal }: Context,
  issuer: Issuer,
  { isDemanded, last, unbound }: { isDemanded: boolean; last: Session | undefined; unbound: boolean },
): Promise<PrivateJwk | undefined> {
  const binding = chooseBinding({
    issuer: issuer.address,
    algorithms: issuer.config.serverMetadata().dpop_signing_alg_values_supported,
    isDemanded,
    wasBound: last?.key_thumbprint !== undefined,
    unbound,
  });
  if (binding === 'bound') return createProofKey(issuer);
  const why = binding === 'chosen' ? 'as you chose' : 'because the issuer does not offer DPoP';
  terminal.note(
    `This session is not bound to a key, ${why}: anyone who gets its access token can use it, also a server between here and the API.`,
  );
  return undefined;
}

function showDevice({ terminal }: Context, { address, userCode, completeAddress }: DevicePrompt): void {
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

/** An access token from stdin that the API accepts. */
async function takeToken(context: Context, baseUrl: string): Promise<Session> {
  const { stdin, interrupted } = context;
  if (stdin.isTTY) throw new CliError('token_unusable', { why: 'stdin is a terminal' });
  await using body = await bodyOfStream(stdin, 'stdin', interrupted);
  if (body.bytes > TOKEN_BYTES_MAX) throw new CliError('token_unusable', { why: 'it is too long' });
  const session = sessionOfToken(await text(body.chunks()), baseUrl, context.nowSeconds());
  await requireTakenToken(baseUrl, await credentialOf(context, session), interrupted);
  return session;
}

async function startBrowser({ environment, terminal }: Context, url: string): Promise<void> {
  if (!(await openBrowser(url, environment))) {
    terminal.note('Cannot start a browser here: open the page yourself, or use --device.');
  }
}

function newSession(
  context: Context,
  at: { baseUrl: string; resource: string | null; issuer: string; clientId: string; scope: string },
  { subject, name, grant }: SignIn,
): Session {
  const now = context.nowSeconds();
  const blank: Session = {
    version: 1,
    base_url: at.baseUrl,
    resource: at.resource,
    issuer: at.issuer,
    client_id: at.clientId,
    subject,
    name,
    scope: at.scope,
    access_token: '',
    expires_at: null,
    refresh_token: null,
    signed_in_at: now,
  };
  return renewSession(blank, grant, now);
}

function report(context: Context, session: Session): void {
  context.terminal.result(describeSession(session), `Signed in as ${nameOf(session)}.`);
  if (mayNotSign(session)) {
    context.terminal.note(`This session cannot sign: it was not granted ${SIGNING_SCOPE}.`);
  }
  if (session.refresh_token === null && session.client_id !== null) {
    context.terminal.note('The issuer gave no refresh token: sign in again when the access token expires.');
  }
}

// Read only for its base address and its client. Errors are ignored, because the new session replaces it.
async function lastSession(place: SessionPlace): Promise<Session | undefined> {
  try {
    return await readSession(place);
  } catch {
    return undefined;
  }
}
