import { openBrowser } from '../adapters/browser.ts';
import { openIssuer } from '../adapters/issuer.ts';
import { fetchProtectedResource } from '../adapters/protected-resource.ts';
import { readSession, writeSession } from '../adapters/session-file.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { type SignIn, signInByCode, signInByDevice } from '../adapters/sign-in.ts';
import { CliError } from '../core/errors.ts';
import { chooseScope, holdsScope, SIGNING_SCOPE } from '../core/scopes.ts';
import { renewSession, type Session } from '../core/session.ts';
import { baseUrlToSignIn, type Context, sessionPlace, variable } from './context.ts';
import { describeSession, nameOf } from './whoami.ts';

const CLIENT_ID_DEFAULT = 'ori-cli';
const WAIT_SECONDS_DEFAULT = 300;

export interface LoginOptions {
  readonly oidc?: boolean;
  readonly device?: boolean;
  readonly browser: boolean;
  readonly scope?: string;
  readonly timeout?: number;
}

/** Signs in at the issuer that the API names, and stores the session. */
export async function login(context: Context, options: LoginOptions): Promise<void> {
  if (options.oidc !== true) {
    throw new CliError('usage', {
      detail: 'Say how to sign in.',
      next: 'With OpenID Connect: ori login --oidc',
    });
  }
  const { terminal, interrupted } = context;
  const { file, lock } = sessionPlace(context);
  const baseUrl = baseUrlToSignIn(context, await lastSession(file));
  terminal.note(`Signing in to ${baseUrl}`);
  const resource = await fetchProtectedResource(baseUrl, interrupted);
  const clientId = variable(context, 'ORI_CLIENT_ID') ?? CLIENT_ID_DEFAULT;
  const issuer = await openIssuer(resource.issuer, clientId, interrupted);
  const scope = chooseScope(
    { resource: resource.scopes, issuer: issuer.config.serverMetadata().scopes_supported },
    options.scope,
  );
  terminal.detail(`Issuer ${resource.issuer}, client ${clientId}, scope ${scope}`);
  const waitSeconds = options.timeout ?? WAIT_SECONDS_DEFAULT;
  const asked = { scope, resource: resource.resource, waitSeconds, signal: interrupted };
  const signIn = options.device
    ? await signInByDevice(issuer, asked, (prompt) => {
        terminal.note(
          'On any device, open',
          `  ${prompt.address}`,
          'and enter the code',
          `  ${prompt.userCode}`,
        );
        if (prompt.completeAddress !== undefined) terminal.note('or open', `  ${prompt.completeAddress}`);
        terminal.note('Waiting …');
      })
    : await signInByCode(issuer, asked, (url) => {
        terminal.note('Open this page to sign in:', `  ${url}`);
        if (options.browser) void startBrowser(context, url);
      });
  const session = newSession(
    context,
    { baseUrl, resource: resource.resource, issuer: issuer.address, clientId, scope },
    signIn,
  );
  await withSessionLock(lock, interrupted, () => writeSession(file, session));
  report(context, session);
}

async function startBrowser({ environment, terminal }: Context, url: string): Promise<void> {
  if (!(await openBrowser(url, environment))) {
    terminal.note('No browser could be started here: open the page yourself, or use --device.');
  }
}

function newSession(
  context: Context,
  at: { baseUrl: string; resource: string; issuer: string; clientId: string; scope: string },
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
  if (context.json) context.terminal.printJson(describeSession(session));
  else context.terminal.print(`Signed in as ${nameOf(session)}.`);
  if (!holdsScope(session.scope, SIGNING_SCOPE)) {
    context.terminal.note(`This session cannot sign: it was not granted ${SIGNING_SCOPE}.`);
  }
  if (session.refresh_token === null) {
    context.terminal.note('The issuer gave no refresh token: sign in again when the access token ends.');
  }
}

// Only for its base address: whatever is wrong with the file, a new sign-in mends it.
async function lastSession(file: string): Promise<Session | undefined> {
  try {
    return await readSession(file);
  } catch {
    return undefined;
  }
}
