import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from '../env/serve.ts';
import type { ForeignProvider } from './foreign-providers.ts';

const OTHER = 'https://other.corp.test/v1';
const SCOPES = ['openid', 'offline_access', 'vault:read', 'interns'];
/** Of each token: a client cannot have a time of its own. */
const TOKEN_SECONDS = 10;
const TABLES = ['user', 'session', 'account', 'verification', 'jwks', 'oauthClient', 'oauthRefreshToken'];
const MORE_TABLES = ['oauthAccessToken', 'oauthConsent', 'oauthResource', 'oauthClientResource'];

/** Its OAuth provider with tables in memory, set up as the README's table says. @param home has `node_modules` */
export async function startBetterAuth(home: string, audience: string): Promise<ForeignProvider> {
  // Not a dependency: its peers do not agree with each other.
  // biome-ignore lint/suspicious/noExplicitAny: without its types
  const load = (file: string): Promise<any> => import(pathToFileURL(join(home, 'node_modules', file)).href);
  const [{ betterAuth }, { jwt }, { toNodeHandler }, { oauthProvider }, { memoryAdapter }] =
    await Promise.all(
      [
        'better-auth/dist/index.mjs',
        'better-auth/dist/plugins/jwt/index.mjs',
        'better-auth/dist/integrations/node.mjs',
        '@better-auth/oauth-provider/dist/index.mjs',
        '@better-auth/memory-adapter/dist/index.mjs',
      ].map(load),
    );
  const served = await serve(createServer());
  const { server, url } = served;
  const auth = betterAuth({
    baseURL: url,
    secret: randomBytes(32).toString('base64'),
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    database: memoryAdapter(Object.fromEntries([...TABLES, ...MORE_TABLES].map((name) => [name, []]))),
    emailAndPassword: { enabled: true },
    disabledPaths: ['/token'],
    plugins: [
      jwt({ jwks: { keyPairConfig: { alg: 'EdDSA' } } }),
      oauthProvider({
        loginPage: '/login',
        consentPage: '/consent',
        scopes: SCOPES,
        resources: [{ identifier: audience, accessTokenTtl: TOKEN_SECONDS }, OTHER],
        enforcePerClientResources: false,
        silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
      }),
    ],
  });
  server.on('request', toNodeHandler(auth));
  const ada = { email: 'ada@corp.test', password: randomBytes(12).toString('hex') };
  const { user } = await auth.api.signUpEmail({ body: { ...ada, name: 'Ada' } });
  const signIn = async (): Promise<string> => {
    const { headers } = (await auth.api.signInEmail({ body: ada, asResponse: true })) as Response;
    return headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
  };
  const { client_id: clientId } = await auth.api.adminCreateOAuthClient({
    headers: new Headers({ cookie: await signIn() }),
    body: {
      client_name: 'ori',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      redirect_uris: ['http://127.0.0.1/callback'],
      scope: SCOPES.join(' '),
      grant_types: ['authorization_code', 'refresh_token'],
    },
  });
  const request = { clientId, scope: SCOPES.join(' ') };
  return {
    issuer: `${url}/api/auth`,
    subject: user.id,
    settings: { audience, clients: [clientId] },
    requests: {
      own: { ...request, resource: audience },
      foreign: { ...request, resource: OTHER },
      brief: { ...request, resource: audience },
    },
    /** To a script it names the address to which it would send a browser. */
    async visit(authorization) {
      const cookie = await signIn();
      const told = async (address: URL, init: RequestInit) => {
        const answer = await fetch(address, { ...init, headers: { cookie, origin: url, ...init.headers } });
        const { url: next } = (await answer.json()) as { readonly url: string };
        return new URL(next, url);
      };
      const next = await told(authorization, {});
      if (next.pathname !== '/consent') return next;
      const agreed = JSON.stringify({ accept: true, oauth_query: next.search.slice(1) });
      const headers = { 'content-type': 'application/json' };
      return told(new URL('/api/auth/oauth2/consent', url), { method: 'POST', body: agreed, headers });
    },
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}
