/**
 * What to do about a code with which an issuer refuses a sign-in or a renewal (RFC 6749, 4.1.2.1 and 5.2; RFC 8628, 3.5;
 * RFC 8707, 2; RFC 9449, 5; OpenID Connect Core 1.0, 3.1.2.6). Absent from codes about its own state, which pass.
 */
const ADVICE: Readonly<Record<string, string>> = {
  invalid_scope: 'Have the issuer allow these scopes to the client, or choose others: --scope',
  invalid_target:
    'Have the issuer accept the base address of the API as a resource, or the API leave it out: "resource": false in its file of issuers.',
  unauthorized_client:
    'Have the issuer allow the client the authorization code with PKCE, refresh tokens, and the device flow for --device.',
  invalid_client:
    'Have the issuer register the client as a public one (token endpoint method none), or name another: ORI_CLIENT_ID',
  invalid_request:
    'Compare the client at the issuer with what ori sends: a redirect to 127.0.0.1, PKCE (S256), and the resource.',
  invalid_request_uri: 'Have the issuer accept requests that are not pushed.',
  unsupported_response_type: 'Have the issuer allow the client the response type code.',
  unsupported_grant_type: 'Have the issuer allow the client that grant.',
  invalid_grant:
    'Sign in again: ori login. If that fails again, compare the redirect address and the clocks at the issuer.',
  invalid_dpop_proof:
    'Compare the clocks, and what the issuer calls its token endpoint; or sign in with --unbound',
  use_dpop_nonce: 'The issuer refuses its own nonce: report it there, or sign in with --unbound',
  access_denied:
    'If it was not you who denied it, ask the operator of the issuer whether you may use the client.',
  login_required: 'Sign in with a browser: ori login',
  consent_required: 'Agree on the page of the issuer, or have its operator agree for everybody.',
  interaction_required: 'Sign in with a browser: ori login',
  account_selection_required: 'Choose an account on the page of the issuer: ori login',
  expired_token: 'Sign in again, and finish it in time: ori login --device',
};

/** For an issuer that refuses with a code of its own. */
const OTHERWISE = 'Ask the operator of the issuer; its log says more.';

export const adviceForOauthCode = (code: string): string =>
  Object.hasOwn(ADVICE, code) ? (ADVICE[code] ?? OTHERWISE) : OTHERWISE;

/** Every code that has advice of its own. */
export const OAUTH_CODES: readonly string[] = Object.keys(ADVICE);
