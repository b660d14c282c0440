import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import PinnedProvider, { type KoaContextWithOIDC } from 'oidc-provider';
import { serve } from '../env/serve.ts';
import { startBetterAuth } from './foreign-better-auth.ts';
import { GLEWLWYD, startGlewlwyd } from './foreign-glewlwyd.ts';
import { startKeycloak } from './foreign-keycloak.ts';
import { type Browser, visitForms } from './foreign-visit.ts';

/** What tells an authorization request from others of the same person. */
export interface ForeignRequest {
  readonly clientId: string;
  readonly scope: string;
  /** RFC 8707; none if the provider chooses the audience by the client. */
  readonly resource?: string;
}

/** A provider that nobody here wrote, with a person, a public client, and this API among its resources. */
export interface ForeignProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Its entry in the file of issuers, without `issuer`. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The person, as its tokens name them to the signer. */
  readonly subject: string;
  /** For this API; for another one; for this one, valid for some seconds. */
  readonly requests: Readonly<Record<'own' | 'foreign' | 'brief', ForeignRequest>>;
  /** Whether it lets no public client revoke a token. */
  readonly refusesRevocation?: true;
  /** Signs with a new key from now on, and still publishes the former; absent where that needs a restart. */
  rotateKey?(): Promise<void>;
  /** Signs the person in at its pages, and returns where it sends them. */
  visit(authorization: URL, browser?: Browser): Promise<URL>;
}

export interface ForeignLaunch {
  readonly name: string;
  /** Why it is not run. */
  readonly missing?: string | undefined;
  /** @param baseUrl of this API, which `ori` names as the resource (RFC 8707) */
  start(baseUrl: string): Promise<ForeignProvider>;
}

const { BETTER_AUTH_HOME, KEYCLOAK_HOME } = process.env;

export const FOREIGN_PROVIDERS: readonly ForeignLaunch[] = [
  { name: 'oidc-provider', start: () => startOidcProvider() },
  {
    name: 'Glewlwyd',
    missing: GLEWLWYD === undefined ? "Debian's package `glewlwyd` is not installed" : undefined,
    start: (baseUrl) => startGlewlwyd(GLEWLWYD ?? '', baseUrl),
  },
  {
    name: 'better-auth',
    missing: BETTER_AUTH_HOME === undefined ? 'BETTER_AUTH_HOME names no folder that has it' : undefined,
    start: (baseUrl) => startBetterAuth(BETTER_AUTH_HOME ?? '', baseUrl),
  },
  {
    name: 'Keycloak',
    missing: KEYCLOAK_HOME === undefined ? 'KEYCLOAK_HOME names no unpacked distribution' : undefined,
    start: () => startKeycloak(KEYCLOAK_HOME ?? ''),
  },
];

const AUDIENCE = 'urn:corp:vault';
const AUTH_TIME = 'https://corp.test/authenticated_at';
const SCOPE = 'openid corp/vault.read corp/interns';
const CLIENT = 'desk-app-17';

/** With its own sign-in pages, and tokens of RFC 9068 that name scopes, person and time in claims of a company's own. */
export async function startOidcProvider(Provider = PinnedProvider): Promise<ForeignProvider> {
  const served = await serve(createServer());
  const { server, url: issuer } = served;
  const { privateKey } = await generateKeyPair('PS256', { extractable: true });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        response_types: ['code'],
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: ['http://127.0.0.1/callback'],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig' }] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    extraTokenClaims: ({ oidc }: KoaContextWithOIDC, token) => ({
      uid: `employee-${'accountId' in token ? token.accountId : ''}`,
      scp: 'scope' in token ? String(token.scope).split(' ') : [],
      [AUTH_TIME]: (oidc.entities.AuthorizationCode ?? oidc.entities.RefreshToken)?.authTime,
    }),
    features: {
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: 'corp/vault.read corp/interns',
          audience: resource === 'urn:corp:other' ? resource : AUDIENCE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: resource === 'urn:corp:brief' ? 3 : 600,
          jwt: { sign: { alg: 'PS256' } },
        }),
      },
    },
  });
  server.on('request', provider.callback());
  return {
    issuer,
    subject: 'employee-ada',
    settings: {
      audience: AUDIENCE,
      clients: [CLIENT],
      claims: { subject: 'uid', scope: 'scp', authTime: AUTH_TIME },
      scopes: { 'vault:read': 'corp/vault.read', interns: 'corp/interns' },
      requireAuthTime: true,
    },
    requests: {
      own: { clientId: CLIENT, scope: SCOPE, resource: AUDIENCE },
      foreign: { clientId: CLIENT, scope: SCOPE, resource: 'urn:corp:other' },
      brief: { clientId: CLIENT, scope: SCOPE, resource: 'urn:corp:brief' },
    },
    visit: (url, browser) => visitForms(url, { login: 'ada', password: 'any' }, undefined, browser),
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}
