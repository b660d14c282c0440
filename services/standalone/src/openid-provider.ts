import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pageHeaders } from '@ori/faces/html';
import express, { type RequestHandler } from 'express';
import Provider, { type KoaContextWithOIDC } from 'oidc-provider';
import { providerConfiguration, RESOURCE_SCOPES } from './openid/configuration.ts';
import { keepUserCode } from './openid/device-pages.ts';
import { interactionRoutes } from './openid/interactions.ts';
import { type ProviderUser, renderMissingPage } from './openid/pages.ts';

export interface OpenIdProviderOptions {
  /** Default 0: the system chooses. */
  readonly port?: number;
  readonly users: readonly ProviderUser[];
  /** The one resource (RFC 8707) that access tokens are for, and their audience: the API's base URL. */
  readonly resource: string;
  /** The secret of the confidential client `ori-signer`, which may introspect. */
  readonly signerClientSecret: string;
  /** Called with errors inside the provider; default: ignored. */
  readonly onError?: (error: Error) => void;
}

/**
 * Starts a real OpenID provider with demo members and no passwords; what it knows dies with it.
 *
 * Who may use which flow stands in `openid/configuration.ts`. Every authorization request asks anew who signs in:
 * there is no single sign-on, so that one browser can be several members in turn. A refresh token is given for
 * `offline_access`, which a request must pair with `prompt=consent` (OpenID Connect Core, section 11).
 *
 * It does NOT protect anything: anyone who can reach its port can sign in as any member. So it listens on 127.0.0.1
 * only, and refuses a request whose `Host` is not its own.
 */
export async function startOpenIdProvider(options: OpenIdProviderOptions) {
  const { port = 0, users, resource, signerClientSecret } = options;
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const authority = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = `http://${authority}`;

  const provider = new Provider(issuer, providerConfiguration({ users, resource, signerClientSecret }));
  provider.use(keepUserCode);
  provider.use(showMissing(resource));
  provider.on('server_error', (_ctx, error) => options.onError?.(error));

  const app = express();
  app.disable('x-powered-by');
  app.use(requireHost(authority), startAnew);
  app.use(interactionRoutes({ provider, users, resource, resourceScopes: RESOURCE_SCOPES }));
  app.use(provider.callback());
  server.on('request', app);

  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { issuer, stop, [Symbol.asyncDispose]: stop };
}

export type OpenIdProvider = Awaited<ReturnType<typeof startOpenIdProvider>>;

function requireHost(authority: string): RequestHandler {
  return (req, res, next) => {
    if (req.headers.host === authority) next();
    else res.status(421).type('text/plain').send(`This provider answers at http://${authority} only.\n`);
  };
}

/** A page for a browser at an unknown address. Programs get a bare 404. */
function showMissing(resource: string) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<void>) => {
    await next();
    if (ctx.status !== 404 || ctx.body !== undefined || ctx.accepts('json', 'html') !== 'html') return;
    ctx.set(pageHeaders());
    ctx.body = renderMissingPage(resource);
    ctx.status = 404;
  };
}

/** A sign-in ignores the browser's session of an earlier one. */
const startAnew: RequestHandler = (req, _res, next) => {
  if (req.method === 'GET' && (req.path === '/auth' || req.path === '/device')) delete req.headers.cookie;
  next();
};
