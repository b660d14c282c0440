import { readBearer } from '@ori/identity/bearer';
import type { IdentityConfig } from '@ori/identity/config';
import { IdentityError } from '@ori/identity/identity-error';
import { type IssuerSettings, OUR_SCOPES } from '@ori/identity/issuers-file';
import { type OpenIdentity, openIdentity } from '@ori/identity/open-identity';
import { CheckFailed, examine, type Finding } from './finding.ts';
import type { Prefix } from './settings.ts';

const NO_API_KEY = { apiKey: () => ({}), now: Date.now };

/** Each issuer of a service: its discovery document, its keys, what `ori login` will ask it for, and its introspection. */
export async function lookAtIssuers(prefix: Prefix, config: IdentityConfig): Promise<Finding[]> {
  const findings = config.issuers.map(async (settings) => {
    const check = `${prefix.toLowerCase()} issuer ${settings.issuer}`;
    const identity = openIdentity<never>({ ...config, issuers: [settings] }, NO_API_KEY);
    try {
      const documents = async () => {
        await identity.check();
        lookAtSignIn(settings);
        return `its discovery document and its keys can be read, and ${lookAtBinding(prefix, config, identity.binds(settings.issuer))}`;
      };
      const ask = async () => {
        await identity.askOnce();
        return 'it answers about tokens';
      };
      const reached = 'that this machine reaches the issuer';
      const asked = examine(`${check}: introspection`, ask, `check introspection.endpoint, and ${reached}`);
      return await Promise.all([
        examine(check, documents, `check the setting issuer, and ${reached}`),
        ...(settings.introspection === undefined ? [] : [asked]),
      ]);
    } finally {
      identity.close();
    }
  });
  return (await Promise.all(findings)).flat();
}

/** @throws CheckFailed if the tokens that `ori login` gets would be refused */
function lookAtSignIn({ clients, scopes, signIn }: IssuerSettings): void {
  if (signIn.clientId !== undefined && !clients.includes(signIn.clientId))
    throw new CheckFailed(
      'ori login uses a client whose tokens are refused',
      'list signIn.clientId among clients',
    );
  // Some issuers want a prefix that their tokens do not have.
  const words = scopes?.['vault:read'] ?? ['vault:read'];
  if (!signIn.scopes.some((asked) => words.some((word) => asked.endsWith(word))))
    throw new CheckFailed(
      'ori login asks for no scope that stands for vault:read',
      'add one to signIn.scopes, or to scopes of the issuer',
    );
}

/** Whether sessions are bound to keys, and what follows for a token in foreign hands. */
function lookAtBinding(prefix: Prefix, { requireDpop }: IdentityConfig, binds: boolean): string {
  const setting = `${prefix}_REQUIRE_DPOP`;
  if (requireDpop && binds) return 'sessions must be bound to a key';
  if (requireDpop) {
    throw new CheckFailed(
      `it does not offer DPoP with ES256, EdDSA or Ed25519, and ${setting}=true refuses sessions without`,
      `enable DPoP at the issuer, or set ${setting}=false`,
    );
  }
  const open = `${setting}=false leaves a token that is not bound to a key to whoever gets it`;
  return binds ? `it binds sessions to keys (DPoP), but ${open}` : `it offers no DPoP: ${open}`;
}

const CLIENT = 'list the client of the token in SIGNER_CLIENTS, or clients of the issuer';
const OTHER_KIND = 'send the access token: this is an ID token, a refresh token or another one';
const CLOCKS = 'sign in again: the token is not valid now, or a clock is wrong';

/** What to change at the provider, by the part of a token that it is refused for. */
export const FIXES: Readonly<Record<string, string>> = {
  typ: 'list the type in tokenTypes of the file of issuers, have the provider issue at+jwt, or set introspection',
  alg: 'have the provider sign access tokens with RS256, PS256, ES256 or EdDSA',
  crit: 'have the provider leave crit out of the header',
  aud: 'have the provider put the audience of the settings into the token: SIGNER_AUDIENCE, or audience of the issuer',
  'client among aud':
    'have the provider leave its client out of aud, or issue at+jwt: only that type may have both; or take the type out of tokenTypes and set introspection',
  iss: 'set SIGNER_ISSUER to exactly the iss of the token, or list that issuer in the file',
  client: CLIENT,
  client_id: CLIENT,
  azp: CLIENT,
  sub: 'have the provider name the person in sub, or name another claim: claims.subject of the file of issuers',
  scope:
    'request our scopes at the sign-in, or name the claim that has them: claims.scope of the file of issuers',
  exp: CLOCKS,
  nbf: CLOCKS,
  iat: CLOCKS,
  lifetime: 'shorten the lifetime at the provider, or raise tokenLifetimeMaxSeconds in the file of issuers',
  auth_time:
    'have the provider add auth_time, or drop requireAuthTime from the file of issuers; if it has one, set the clock of the provider',
  act: 'sign in as the person: tokens of a service that acts for somebody are not accepted',
  cnf: 'have the provider bind tokens by the thumbprint of a key (DPoP, cnf.jkt), or by nothing',
  active:
    'send the newest access token: the issuer calls this one not active, or is not asked by a client of its audience',
  token_type: 'have the provider report token_type Bearer or DPoP at the introspection',
  length: 'have the provider put less into the token: at most 8,192 characters are introspected',
  ...Object.fromEntries(
    ['token_use', 'nonce', 'at_hash', 'c_hash', 's_hash', 'events'].map((name) => [name, OTHER_KIND]),
  ),
};

/** The same, by the member of `claims` that names it: the token lacks it, or it is of another kind. */
const NAMED_FIXES: Readonly<Record<string, string>> = {
  subject: 'have the provider name the person there, or name another claim: claims.subject',
  client: 'have the provider name its client there, or name another claim, or none: claims.client',
  scope: 'request our scopes at the sign-in, or name the claim that has them: claims.scope',
  authTime: 'have the provider add the time there, or name another claim, or none: claims.authTime',
};

function fixFor(claim: string, issuers: IdentityConfig['issuers']): string {
  const named = issuers
    .flatMap(({ claims = {} }) => Object.entries(claims))
    .find(([, name]) => name === claim);
  const fix =
    NAMED_FIXES[named?.[0] ?? ''] ?? (Object.hasOwn(FIXES, claim) ? FIXES[claim] : undefined) ?? OTHERWISE;
  if (claim !== 'aud') return fix;
  const isAsked = issuers.some(({ introspection }) => introspection !== undefined);
  const isLeftOut = issuers.some(({ signIn }) => !signIn.resource);
  return `${fix}${isLeftOut ? '; or have ori ask for it: signIn.resource true' : ''}${isAsked ? '; or, if its introspection states none, set introspection.withoutAudience' : ''}`;
}

/** A token pasted in: whether the service accepts it, and if not, for which claim. */
export async function lookAtToken(config: IdentityConfig, token: string): Promise<string> {
  const judge = async ({ identify }: Pick<OpenIdentity<never>, 'identify'>) =>
    identify(readBearer([`Bearer ${token}`]), 'doctor');
  const identity = openIdentity<never>(config, NO_API_KEY);
  try {
    const found = await judge(identity).catch(refuseFor(config));
    if (found === undefined || !('token' in found)) throw nobodysOf(config);
    const { subject, issuer, scopes, authenticatedAt } = found.token;
    const settings = config.issuers.find((one) => one.issuer === issuer);
    const missing = OUR_SCOPES.find(
      (scope) => !scopes.includes(scope) && (scope === 'vault:read' || settings?.scopes?.[scope]),
    );
    if (missing !== undefined) {
      const has = scopes.length === 0 ? 'none of our scopes' : scopes.join(' ');
      throw new CheckFailed(
        `it has ${has}, not ${missing}${missing === 'vault:read' ? ', which signing needs' : ''}`,
        'request the scope at the sign-in, name the claim that has it (claims.scope), or map its name (scopes)',
      );
    }
    const { authTime } = settings?.claims ?? {};
    if (authTime !== undefined && authenticatedAt === undefined)
      throw new CheckFailed(`it has no ${authTime}`, NAMED_FIXES['authTime'] ?? OTHERWISE);
    const since = authenticatedAt === undefined ? 'without auth_time' : 'with auth_time';
    return `accepted: subject ${JSON.stringify(subject)}, scope ${scopes.join(' ')}, ${since}`;
  } finally {
    identity.close();
  }
}

const OTHERWISE = 'compare the token with deploy/openid-providers.md';

function nobodysOf({ issuers }: IdentityConfig): CheckFailed {
  if (issuers.some(({ introspection }) => introspection !== undefined))
    return new CheckFailed(
      'it is not a signed JWT, and has the prefix of no issuer that is asked about tokens',
      'correct introspection.tokenPrefix',
    );
  return new CheckFailed(
    'it is not a signed JWT, and no issuer is asked about other tokens',
    'have the provider issue JWTs, or set introspection in the file of issuers',
  );
}

const refuseFor =
  ({ issuers }: IdentityConfig) =>
  (error: unknown): never => {
    if (!(error instanceof IdentityError) || !['bearer_refused', 'certificate_bound'].includes(error.code))
      throw error;
    const claim = error.code === 'certificate_bound' ? 'cnf' : (error.claim ?? '');
    throw new CheckFailed(error.message, fixFor(claim, issuers));
  };
