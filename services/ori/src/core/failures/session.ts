import type { Difference, ServerFacts, ServerRefusal, Terms } from './facts.ts';
import { failure } from './failure.ts';
import { adviceForOauthCode } from './oauth-codes.ts';

const SIGN_IN = 'Sign in again: ori login';

export const SESSION_FAILURES = {
  not_signed_in: failure.signInNeeded<{ profile?: string }>({
    what: ({ profile }) =>
      profile === undefined ? 'You are not signed in.' : `The profile ${profile} has no session.`,
    next: ({ profile }) =>
      profile === undefined
        ? 'Sign in: ori login'
        : `Sign in to it: ori --profile ${profile} login. The others: ori profiles`,
  }),
  session_elsewhere: failure.signInNeeded<{ sessionBaseUrl: string; baseUrl: string }>({
    what: ({ sessionBaseUrl, baseUrl }) => `The session is for ${sessionBaseUrl}, not for ${baseUrl}.`,
    next: ({ baseUrl }) => `Sign in there: ori --base-url ${baseUrl} login, or unset ORI_BASE_URL.`,
  }),
  session_file_exposed: failure.signInNeeded<{ file: string; mode: string }>({
    what: ({ file, mode }) => `Other users of this machine can access ${file} (${mode}), so it is not used.`,
    next: ({ file }) =>
      `Make it private: chmod go= ${file}. End a session that they may have used: ori logout, then ori login`,
  }),
  session_file_damaged: failure.signInNeeded<{ file: string }>({
    what: ({ file }) => `${file} is not a session file of this version of ori.`,
    next: () => SIGN_IN,
  }),
  session_file_unusable: failure.unexpected<{ file: string; why: string }>({
    what: ({ file, why }) => `Cannot use ${file}: ${why}.`,
    next: () => 'ori stores its session there: make the folder writable, or set XDG_CONFIG_HOME.',
  }),
  session_key_missing: failure.signInNeeded<object>({
    what: () => 'The key that this session is bound to is not on this computer.',
    next: () => 'Sign in again here: ori login',
  }),
  binding_not_offered: failure.refused<{ issuer: string }>({
    what: ({ issuer }) => `The API accepts only sessions bound to a key, and ${issuer} does not offer them.`,
    next: () => 'Ask the operator of the issuer to enable DPoP (RFC 9449) with ES256.',
  }),
  api_not_named: failure.unavailable<{ baseUrl: string }>({
    what: ({ baseUrl }) =>
      `No API was named, and nothing answers at ${baseUrl}, where the standalone would be.`,
    next: () => 'Name your API, once: ori login --base-url https://api.example.com/v1 (or set ORI_BASE_URL).',
  }),
  sign_in_differs: failure.signInNeeded<{ differences: readonly Difference[] }>({
    what: ({ differences }) =>
      `The sign-in is not what this profile trusts: ${differences.map(tellDifference).join('; ')}.`,
    next: ({ differences }) =>
      `Nothing was sent. If you expected exactly this: ori login${differences.some(({ member }) => member !== 'bound') ? ' --trust' : ''}${differences.some(({ member }) => member === 'bound') ? ' --unbound' : ''}`,
  }),
  trust_damaged: failure.usage<{ file: string }>({
    what: ({ file }) => `${file} does not contain what a profile trusts.`,
    next: () => 'Restore it. If you remove it, check what the next ori login shows as at the first.',
  }),
  session_busy: failure.unavailable<{ file: string }>({
    what: ({ file }) => `Another ori process has been holding ${file} for too long.`,
    next: () => 'Wait for it, or stop it, and try again.',
  }),
  keychain_unusable: failure.signInNeeded<{ why: string }>({
    what: ({ why }) => `The system keychain cannot be used: ${why}.`,
    next: () => 'Unlock it, or store the session in a file: ORI_SESSION_STORE=file ori login',
  }),
  signed_as_other: failure.refused<{ baseUrl: string; user: string; before: string }>({
    what: ({ baseUrl, user, before }) =>
      `${baseUrl} signed as ${user}, and this session is that of ${before}.`,
    next: () =>
      'Nothing was sent with this proof. If you changed accounts, use a profile for each: ori --profile NAME. Otherwise something between ori and the signer answers for it: report it to the operator of the API.',
  }),
  root_vouches_not: failure.refused<{ baseUrl: string; why: string }>({
    what: ({ baseUrl, why }) => `The root of ${baseUrl} does not vouch for the proof: ${why}.`,
    next: () =>
      'Nothing was sent with it. If the API has another root, get it from its operator: ori profiles root FILE. Otherwise something between ori and the signer answers for it: report it.',
  }),
  token_refused: failure.signInNeeded<{ baseUrl: string } & ServerRefusal>({
    what: ({ baseUrl, message }) => `${baseUrl} refused the given access token: ${message}`,
    next: () => 'It may have expired, or be for another audience: get a new one from the issuer.',
  }),
  token_unusable: failure.usage<{ why: string }>({
    what: ({ why }) => `There is no usable access token: ${why}.`,
    next: () => 'Set ORI_TOKEN, or pipe it in: ori login --with-token < token.txt',
  }),
  token_key_unusable: failure.usage<{ file?: string; why: string }>({
    what: ({ file, why }) =>
      `The token in ORI_TOKEN is bound to a key (DPoP), and ${file === undefined ? 'ORI_DPOP_KEY' : `the key in ${file}`} ${why}.`,
    next: () =>
      'If it is from ori token, unset ORI_TOKEN: ori then uses the session, and its key. Otherwise set ORI_DPOP_KEY to the file of the private key (JWK) that the token was requested with.',
  }),
  profile_malformed: failure.usage<{ profile: string }>({
    what: ({ profile }) => `${profile} is not a profile name.`,
    next: () => 'Use up to 64 letters, digits, - and _, beginning with a letter or digit.',
  }),
  session_ended: failure.signInNeeded<{ why?: string }>({
    what: ({ why }) => `The session has ended${why === undefined ? '' : ` (${why})`}.`,
    next: () => SIGN_IN,
  }),
  sign_in_too_old: failure.signInNeeded<ServerFacts>({
    what: () => 'Your sessions were ended, and this one began before that.',
    next: () => 'Sign in anew: ori login --fresh',
  }),
  sign_in_not_fresh: failure.refused<{ issuer: string; at: string }>({
    what: ({ issuer, at }) =>
      `${issuer} did not ask you to sign in anew: it answered with your sign-in of ${at}.`,
    next: ({ issuer }) =>
      `Nothing was stored. Sign out at ${issuer} in that browser, then: ori login --fresh`,
  }),
  session_not_renewed: failure.signInNeeded<{ why: string; oauth?: string | undefined }>({
    what: ({ why }) => `The session cannot be renewed: ${why}.`,
    next: ({ oauth }) =>
      oauth === undefined ? SIGN_IN : `${SIGN_IN}. If that is refused, too: ${adviceForOauthCode(oauth)}`,
  }),
  issuer_busy: failure.unavailable<{ address: string; why: string }>({
    what: ({ address, why }) => `The issuer ${address} cannot answer now (${why}).`,
    next: () => 'Try again in a moment.',
  }),
  scope_not_granted: failure.refused<{ scopes: readonly string[] }>({
    what: ({ scopes }) => `The issuer did not grant ${scopes.join(', ')}.`,
    next: () => 'Nothing was stored. Request fewer scopes with --scope, or have the issuer allow them.',
  }),
  issuer_refused: failure.refused<{ why: string; oauth: string }>({
    what: ({ why }) => `The issuer refused the sign-in: ${why}.`,
    next: ({ oauth }) => `Nothing was stored. ${adviceForOauthCode(oauth)}`,
  }),
  sign_in_failed: failure.refused<{ why: string }>({
    what: ({ why }) => `The issuer's answer was refused: ${why}.`,
    next: () =>
      'Nothing was stored. Report it to the operator of the issuer, unless it passes at the next try.',
  }),
  no_openid_provider: failure.refused<{ address: string; status: number }>({
    what: ({ address, status }) =>
      `There is no OpenID provider at ${address}: its discovery document is answered with ${status}.`,
    next: () =>
      'Have the operator of the API correct its issuer. An OAuth server that has the metadata of RFC 8414 alone does not sign people in.',
  }),
  sign_in_timed_out: failure.unavailable<{ seconds: number; redirectUri?: string }>({
    what: ({ seconds }) => `The sign-in was not completed within ${seconds} s.`,
    next: ({ redirectUri }) =>
      redirectUri === undefined
        ? 'Try again: ori login --device'
        : `If the issuer showed an error about the redirect address, have it allow ${redirectUri} with any port, or one port: signIn.redirectPort in the file of issuers, or --redirect-port. Otherwise try again: ori login (on a machine without a browser, add --device).`,
  }),
  sign_in_method_missing: failure.refused<{ issuer: string; method: string; next: string }>({
    what: ({ issuer, method }) => `The issuer ${issuer} does not offer ${method}.`,
    next: ({ next }) => next,
  }),
};

/** For a session that the keychain could not store. */
export function tellFallback(why: string): string {
  return `The system keychain cannot store the session (${why}), so it is stored in a file that only you can read.`;
}

const TERM_NAMES: Readonly<Record<keyof Terms, string>> = {
  issuer: 'issuer',
  client: 'client',
  scope: 'scopes',
  resource: 'tokens for this API alone (RFC 8707)',
  bound: 'bound to a key (DPoP)',
  audience: 'tokens also for',
};

function tellDifference({ member, before, now }: Difference): string {
  return `${TERM_NAMES[member]}: ${tellTerm(now)} instead of ${tellTerm(before)}`;
}

function tellTerm(value: string | boolean): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === '' ? 'none' : value;
}

/** What decides who can use the tokens of a sign-in, before it begins. */
export function tellTerms({ issuer, client, scope, resource, bound }: Terms): string {
  return `Issuer ${issuer}, client ${client}, scopes ${scope}, ${bound ? 'bound to a key' : 'not bound to a key'}${resource ? '' : ', tokens not for this API alone'}`;
}

/** For a session that is not bound. */
export function tellUnbound(isChosen: boolean | undefined, isOffered: boolean): string {
  const why = isOffered ? 'because the issuer did not do so' : 'because the issuer does not offer DPoP';
  return `This session is not bound to a key, ${isChosen ? 'as you chose' : why}: anyone who gets its access token can use it, also a server between here and the API.`;
}

/**
 * For the first renewal of a session: what the issuer changed in `auth_time` of its JWTs, by which
 * `ori-admin user revoke-sessions` tells older sessions from newer ones.
 */
export function tellMovedSignIn(before: unknown, after: unknown): string | undefined {
  if (typeof before !== 'number' || after === before) return undefined;
  return typeof after === 'number'
    ? 'The issuer dated your sign-in anew when it renewed the token (auth_time), so a revocation of your sessions would not end this one: tell the operator of the API.'
    : 'The issuer left the time of your sign-in (auth_time) out of the renewed token: after a revocation of your sessions, or where the API requires it, sign in anew instead. Tell the operator of the API.';
}
