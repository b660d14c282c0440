import { readBearer } from '@ori/identity/bearer';
import type { IdentityConfig } from '@ori/identity/config';
import { IdentityError } from '@ori/identity/identity-error';
import { openIdentity } from '@ori/identity/open-identity';
import { CheckFailed, examine, type Finding } from './finding.ts';
import type { Prefix } from './settings.ts';

const NO_API_KEY = { apiKey: () => ({}), now: Date.now };

/** Each issuer of a service: its discovery document, and its keys. */
export function lookAtIssuers(prefix: Prefix, config: IdentityConfig): Promise<Finding[]> {
  const check = `${prefix.toLowerCase()} issuer`;
  return Promise.all(
    config.issuers.map((settings) =>
      examine(
        `${check} ${settings.issuer}`,
        async () => {
          const identity = openIdentity<never>({ ...config, issuers: [settings] }, NO_API_KEY);
          try {
            await identity.check();
            await identity.askOnce();
            const asked = settings.introspection === undefined ? '' : ', it answers about tokens';
            return `its discovery document and its keys can be read${asked}, and ${lookAtBinding(prefix, config, identity.binds(settings.issuer))}`;
          } finally {
            identity.close();
          }
        },
        'check the setting, and that this machine reaches the issuer',
      ),
    ),
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

/** What to change at the provider, by the claim that a token is refused for. */
const FIXES: Readonly<Record<string, string>> = {
  typ: 'list the type in tokenTypes of the file of issuers, or have the provider issue at+jwt',
  alg: 'have the provider sign access tokens with RS256, PS256, ES256 or EdDSA',
  aud: 'have the provider put the audience of the settings into the token: SIGNER_AUDIENCE, or audience of the issuer',
  iss: 'set SIGNER_ISSUER to exactly the iss of the token, or list that issuer in the file',
  client: 'list the client of the token in SIGNER_CLIENTS, or clients of the issuer',
  client_id: 'list the client of the token in SIGNER_CLIENTS, or clients of the issuer',
  azp: 'list the client of the token in SIGNER_CLIENTS, or clients of the issuer',
  exp: 'sign in again: the token has expired, or a clock is wrong',
  lifetime: 'shorten the lifetime at the provider, or raise tokenLifetimeMaxSeconds in the file of issuers',
  auth_time: 'have the provider add auth_time, or drop requireAuthTime from the file of issuers',
};

/** A token pasted in: whether the service accepts it, and if not, for which claim. */
export async function lookAtToken(config: IdentityConfig, token: string): Promise<string> {
  const identity = openIdentity<never>(config, NO_API_KEY);
  try {
    const found = await identity.identify(readBearer([`Bearer ${token}`]), 'doctor').catch(refuse);
    if (found === undefined || !('token' in found)) {
      throw new CheckFailed(
        'it is not a JWT, and no issuer is asked about opaque tokens',
        'have the provider issue JWTs, or set an introspection client',
      );
    }
    const { subject, scopes, authenticatedAt } = found.token;
    if (!scopes.includes('vault:read')) {
      const has = scopes.length === 0 ? 'none of our scopes' : scopes.join(' ');
      const fix = 'request the scope at the sign-in, and map its name under scopes in the file of issuers';
      throw new CheckFailed(`it has ${has}, and signing needs vault:read`, fix);
    }
    const since = authenticatedAt === undefined ? 'without auth_time' : 'with auth_time';
    return `accepted: subject ${JSON.stringify(subject)}, scope ${scopes.join(' ')}, ${since}`;
  } finally {
    identity.close();
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof IdentityError) || error.code === 'issuer_unavailable') throw error;
  const fix = FIXES[error.claim ?? ''] ?? 'compare the token with the OpenID providers in the README';
  throw new CheckFailed(error.message, fix);
}
