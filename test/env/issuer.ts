import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { discoveryDocument, introspection, isClient, type OpaqueTokenOptions } from './issuer-documents.ts';
import { createIssuerKey, type IssuerAlgorithm } from './issuer-keys.ts';
import { mintToken, type TokenOptions } from './issuer-tokens.ts';
import { freePort } from './ports.ts';

export type { OpaqueTokenOptions } from './issuer-documents.ts';
export type { TokenOptions } from './issuer-tokens.ts';

export type IssuerRoute = 'discovery' | 'jwks' | 'introspection' | 'revocation';

/**
 * How a route answers. `frozen` accepts the request and never answers; `redirecting` redirects to a path of the
 * same origin with the correct answer; `huge` answers correctly after 16 MiB of white space; `truncated` sends half
 * of the answer and ends there; `html` sends a page; `impostor` answers as another issuer.
 */
export type IssuerBehaviour =
  | 'good'
  | 'frozen'
  | 'error'
  | 'redirecting'
  | 'huge'
  | 'malformed'
  | 'truncated'
  | 'html'
  | 'impostor';

export interface IssuerOptions {
  /** The audience of honest tokens: the base URL of the API. */
  readonly audience: string;
  readonly algorithms?: readonly IssuerAlgorithm[];
  readonly introspectionClient?: { readonly id: string; readonly secret: string };
}

const ROUTES: Record<string, IssuerRoute> = {
  '/.well-known/openid-configuration': 'discovery',
  '/jwks': 'jwks',
  '/introspect': 'introspection',
  '/revoke': 'revocation',
};

/** The type and body of behaviours that do not depend on the request. */
const FIXED: Readonly<Record<string, readonly [type: string, body: string]>> = {
  malformed: ['application/json', '{"keys":['],
  html: ['text/html', '<!doctype html><title>Maintenance</title>'],
};

const IMPOSTOR = 'https://issuer.example';
const HUGE_BYTES = 16 * 1024 * 1024;

export async function startIssuer(options: IssuerOptions) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const keys = await Promise.all((options.algorithms ?? ['ES256', 'EdDSA', 'RS256']).map(createIssuerKey));
  const client = options.introspectionClient ?? { id: 'ori-signer', secret: randomBytes(16).toString('hex') };
  const opaque = new Map<string, Record<string, unknown>>();
  const behaviours = new Map<IssuerRoute, IssuerBehaviour>();
  const counts = { discovery: 0, jwks: 0, introspection: 0, revocation: 0, elsewhere: 0, unknown: 0 };
  let announced: Record<string, unknown> = {};

  const answers: Record<IssuerRoute, (body: URLSearchParams, request: IncomingMessage) => [number, unknown]> =
    {
      discovery: () => [200, { ...discoveryDocument(url), ...announced }],
      jwks: () => [200, { keys: keys.filter((key) => key.published).map((key) => key.publicJwk) }],
      introspection: (body, request) => {
        if (!isClient(request, body, client)) return [401, { error: 'invalid_client' }];
        const token = body.get('token') ?? '';
        if (token.split('.').length === 3) return [400, { error: 'invalid_request' }];
        return [200, opaque.get(token) ?? { active: false }];
      },
      revocation: (body) => {
        opaque.delete(body.get('token') ?? '');
        return [200, {}];
      },
    };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const elsewhere = path.startsWith('/elsewhere');
    const route = ROUTES[elsewhere ? path.slice('/elsewhere'.length) : path];
    counts[elsewhere ? 'elsewhere' : (route ?? 'unknown')] += 1;
    const body = new URLSearchParams(await text(request));
    if (!route) return send(response, 404, { error: 'not_found' });
    const behaviour = elsewhere ? 'good' : (behaviours.get(route) ?? 'good');
    if (behaviour === 'frozen') return;
    if (behaviour === 'error') return send(response, 500, { error: 'server_error' });
    if (behaviour === 'redirecting')
      return void response.writeHead(307, { location: `/elsewhere${path}` }).end();
    const fixed = FIXED[String(behaviour)];
    if (fixed) return void response.writeHead(200, { 'content-type': fixed[0] }).end(fixed[1]);
    const [status, content] = answers[route](body, request);
    if (behaviour === 'truncated') {
      const whole = JSON.stringify(content);
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': whole.length });
      response.write(whole.slice(0, whole.length / 2), () => response.destroy());
      return;
    }
    if (behaviour === 'impostor') {
      return send(response, status, { ...(content as object), iss: IMPOSTOR, issuer: IMPOSTOR, keys: [] });
    }
    send(response, status, content, behaviour === 'huge' ? ' '.repeat(HUGE_BYTES) : '');
  }

  const start = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  await start();

  return {
    url,
    introspectionClient: client,
    /** Requests that arrived, by route; `elsewhere` counts followed redirects. */
    counts,
    resetCounts(): void {
      for (const route of Object.keys(counts) as (keyof typeof counts)[]) counts[route] = 0;
    },
    /** A JWT access token (RFC 9068) under a published key. Every part can be overridden. */
    token: (token: TokenOptions = {}) => mintToken({ issuer: url, audience: options.audience, keys }, token),
    /** An opaque access token that introspection accepts. */
    opaqueToken(token: OpaqueTokenOptions = {}): string {
      const value = randomBytes(24).toString('base64url');
      opaque.set(value, introspection({ issuer: url, audience: options.audience }, token));
      return value;
    },
    /** Adds a key. Returns its kid. */
    async addKey(algorithm: IssuerAlgorithm, published = false): Promise<string> {
      const key = await createIssuerKey(algorithm);
      keys.push({ ...key, published });
      return key.kid;
    },
    behave(behaviour: IssuerBehaviour, ...routes: IssuerRoute[]): void {
      for (const route of routes.length ? routes : Object.values(ROUTES)) behaviours.set(route, behaviour);
    },
    /** Replaces members of the discovery document; `undefined` removes one. */
    announce(members: Record<string, unknown>): void {
      announced = members;
    },
    /** Stops listening and closes all connections. */
    stop,
    /** Listens on the same port again. */
    start,
    [Symbol.asyncDispose]: stop,
  };
}

/** An OpenID issuer on loopback that mints real tokens and misbehaves on demand. */
export type TestIssuer = Awaited<ReturnType<typeof startIssuer>>;

function send(response: ServerResponse, status: number, content: unknown, padding = ''): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(padding + JSON.stringify(content));
}
