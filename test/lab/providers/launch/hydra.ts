import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { visitForms } from '../../../e2e/foreign-visit.ts';
import { freePort } from '../../../env/ports.ts';
import { serve } from '../../../env/serve.ts';
import { fromGo } from '../install.ts';
import { type Launch, type Started, started } from '../launch.ts';

/** Hydra with tokens of one of its two forms. */
export const hydra = (tokens: 'jwt' | 'opaque'): Launch => ({
  name: `Ory Hydra, ${tokens === 'jwt' ? 'JWT' : 'opaque'}`,
  asInstalled: 'opaque tokens; its introspection is on another port',
  lines:
    tokens === 'jwt'
      ? '`strategies.access_token: jwt`, `allowed_top_level_claims: [auth_time]`; `tokenTypes`: `JWT`, `claims.scope`: `scp`'
      : '`introspection.endpoint` (admin port), `authMethod` `none`, `claims.authTime`: `ext.auth_time`',
  sub: 'what the login application gives',
  install: (folder) =>
    fromGo(folder, 'github.com/ory/hydra/v2', {
      tags: 'sqlite,sqlite_omit_load_extension',
      dropped: 'github.com/ory/hydra-client-go/v2',
    }),
  start: (baseUrl, folder, version) => startHydra(baseUrl, join(folder, `built-${version}`), tokens),
});

/** The login and consent application that Hydra asks every operator to write; it agrees to everything for ada. */
async function serveHydraPages(admin: () => string, audience: string) {
  const put = async (path: string, body: object) => {
    const answer = await fetch(`${admin()}/admin/oauth2/auth/requests/${path}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return ((await answer.json()) as { redirect_to: string }).redirect_to;
  };
  return serve(
    createServer(async (req, res) => {
      const { pathname, searchParams } = new URL(req.url ?? '', 'http://127.0.0.1');
      const challenge = searchParams.get(`${pathname.slice(1)}_challenge`);
      const accept = pathname === '/login' ? { subject: 'ada' } : await consent(String(challenge));
      const location = await put(
        `${pathname.slice(1)}/accept?${pathname.slice(1)}_challenge=${challenge}`,
        accept,
      );
      res.writeHead(302, { location }).end();
    }),
  );
  async function consent(challenge: string) {
    const asked = await fetch(`${admin()}/admin/oauth2/auth/requests/consent?consent_challenge=${challenge}`);
    const { requested_scope } = (await asked.json()) as { requested_scope: string[] };
    const session = { access_token: { auth_time: Math.floor(Date.now() / 1000) } };
    return { grant_scope: requested_scope, grant_access_token_audience: [audience], session };
  }
}

async function startHydra(audience: string, program: string, tokens: 'jwt' | 'opaque'): Promise<Started> {
  await using stack = new AsyncDisposableStack();
  const adminPort = await freePort();
  const admin = `http://127.0.0.1:${adminPort}`;
  const pages = stack.use(await serveHydraPages(() => admin, audience));
  const hydra = stack.use(
    await started(
      (port) => ({
        program,
        arguments: ['serve', 'all', '--dev'],
        ready: /Setting up http server on .*:\d+/,
        environment: {
          DSN: 'memory',
          SERVE_PUBLIC_HOST: '127.0.0.1',
          SERVE_PUBLIC_PORT: String(port),
          SERVE_ADMIN_HOST: '127.0.0.1',
          SERVE_ADMIN_PORT: String(adminPort),
          URLS_SELF_ISSUER: `http://127.0.0.1:${port}`,
          URLS_LOGIN: `${pages.url}/login`,
          URLS_CONSENT: `${pages.url}/consent`,
          SECRETS_SYSTEM: randomBytes(16).toString('hex'),
          STRATEGIES_ACCESS_TOKEN: tokens,
          ...(tokens === 'jwt' && { OAUTH2_ALLOWED_TOP_LEVEL_CLAIMS: 'auth_time' }),
        },
      }),
      (url) => ({
        issuer: url,
        subject: 'ada',
        settings: {
          audience,
          ...(tokens === 'jwt'
            ? { tokenTypes: ['JWT'], claims: { scope: 'scp' } }
            : {
                introspection: {
                  endpoint: `${admin}/admin/oauth2/introspect`,
                  clientId: 'ori-signer',
                  authMethod: 'none',
                },
                claims: { authTime: 'ext.auth_time' },
              }),
        },
        visit: (start) => visitForms(start, {}, [new URL(url).origin, new URL(pages.url).origin]),
      }),
    ),
  );
  const client = {
    client_id: 'ori-cli',
    token_endpoint_auth_method: 'none',
    redirect_uris: ['http://127.0.0.1/callback'],
    scope: 'openid offline_access vault:read interns',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    audience: [audience],
  };
  for (;;) {
    const made = await fetch(`${admin}/admin/clients`, {
      method: 'POST',
      body: JSON.stringify(client),
    }).catch(() => undefined);
    if (made?.ok) break;
    if (made !== undefined) throw new Error(`Hydra answered ${made.status}: ${await made.text()}`);
    await pause(50);
  }
  const owned = stack.move();
  return { ...hydra, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
