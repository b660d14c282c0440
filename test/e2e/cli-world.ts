import { randomBytes } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { type JwkSet, renderJwkSet, renderProof, signingInputV1, signingInputV2 } from '@ori/proof';
import { createNonce, createSigningKey } from '@ori/proof/signing';
import { createLocalKeySet, createVerifier, type VerifierOptions } from '@ori/verifier';
import { type Proven, requireProof } from '@ori/verifier/node';
import { createTestReplayStore } from '@ori/verifier/testing';
import { afterAll } from 'vitest';
import { startOpenIdProvider } from '../../services/standalone/src/openid-provider.ts';
import { walkThrough } from '../../services/standalone/src/person.ts';
import type { Tls } from '../env/certificate.ts';
import { serve } from '../env/serve.ts';
import { makeOriHome, type OriHome, type OriResult, type OriRun } from './cli-process.ts';

export const INTERN_ID = 'int_cli_e2e';
const SIGNER_SECRET = 'e2e-signer-secret';

/** A response that the API or a daemon gives instead of its own. */
export interface Scripted {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The parts of a request to the API that tests inspect. */
export interface ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/**
 * The environment of the CLI: the standalone's OpenID provider, a daemon behind the verifier, and an API that
 * signs with a test key for every subject of the issuer, unless a test scripts its next responses.
 */
export interface CliWorld extends AsyncDisposable {
  readonly baseUrl: string;
  readonly issuer: string;
  readonly daemonUrl: string;
  /** The public key of the API. */
  readonly jwks: JwkSet;
  readonly requests: ApiRequest[];
  /** The next responses of the API, in order; then it responds normally again. */
  readonly scripted: Scripted[];
  /** Called before each signing response. */
  beforeSigning: () => unknown;
  /** The protected-resource metadata; tests may change it. */
  metadata: Record<string, unknown>;
  newHome(env?: Readonly<Record<string, string>>): Promise<OriHome>;
  /** The same, with ada signed in. */
  newSignedIn(env?: Readonly<Record<string, string>>): Promise<OriHome>;
  /**
   * Signs a scripted person in at the provider's real pages, and returns the text of the CLI's final page.
   */
  signIn(home: OriHome, options?: SignInOptions): Promise<SignedIn>;
  stopIssuer(): Promise<void>;
}

export interface CliWorldOptions {
  /** Serves API and daemon over HTTPS, as `localhost`. */
  readonly tls?: Tls;
}

export interface SignInOptions extends OriRun {
  readonly user?: string;
  readonly decision?: 'allow' | 'deny';
  readonly args?: readonly string[];
}

export interface SignedIn extends OriResult {
  readonly page: Response;
  readonly pageText: string;
}

export async function startCliWorld({ tls }: CliWorldOptions = {}): Promise<CliWorld> {
  const key = createSigningKey(randomBytes(32));
  const requests: ApiRequest[] = [];
  const scripted: Scripted[] = [];
  const api = await listen((req, res) => void answer(req, res), tls);
  const baseUrl = `${api.url}/v1`;
  const provider = await startOpenIdProvider({
    users: [
      { name: 'ada', subject: 'acct_ada' },
      { name: 'grace', subject: 'acct_grace' },
    ],
    resource: baseUrl,
    signerClientSecret: SIGNER_SECRET,
  });
  const verifier = createVerifier({
    internId: INTERN_ID,
    keys: createLocalKeySet(renderJwkSet([key])),
    replay: createTestReplayStore(),
  });
  const daemon = await listen(
    requireProof(verifier, { bodyBytesMax: 1_048_576, diagnose: true }, (_req, res, { proof }) =>
      send(res, { status: 200, body: { user: proof.user } }),
    ),
    tls,
  );

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = req;
    const body = await text(req);
    if (url === '/.well-known/oauth-protected-resource/v1')
      return send(res, { status: 200, body: world.metadata });
    requests.push({ method, url, headers, body });
    const script = scripted.shift();
    if (script !== undefined) return send(res, script);
    if (method === 'GET' && url === `/v1/interns/${INTERN_ID}/daemon/jwks.json`)
      return send(res, { status: 200, body: world.jwks });
    const user = await subjectOf(provider.issuer, headers.authorization);
    if (user === undefined) return send(res, { status: 401, body: { error: { code: 401, message: 'No.' } } });
    if (method !== 'POST' || url !== `/v1/interns/${INTERN_ID}/daemon/sign`) {
      return send(res, {
        status: 404,
        body: {
          error: { code: 404, message: 'Not found.', metadata: { reason: 'not_found', retryable: false } },
        },
      });
    }
    await world.beforeSigning();
    send(res, { status: 200, body: proofOf(body, user) });
  }

  function proofOf(json: string, user: string) {
    const { bodySha256, route } = JSON.parse(json);
    const timestamp = Math.floor(Date.now() / 1000);
    const signed = { internId: INTERN_ID, timestamp, user, bodySha256 };
    const first = { version: 1 as const, signature: key.sign(signingInputV1(signed)) };
    if (route === undefined) return renderProof({ timestamp, user, signatures: [first] });
    const nonce = createNonce();
    const signature = key.sign(signingInputV2({ ...signed, ...route, nonce }));
    return renderProof({ timestamp, user, nonce, signatures: [first, { version: 2, signature }] });
  }

  const world: CliWorld = {
    baseUrl,
    issuer: provider.issuer,
    daemonUrl: daemon.url,
    jwks: renderJwkSet([key]),
    requests,
    scripted,
    beforeSigning: () => {},
    metadata: {
      resource: baseUrl,
      authorization_servers: [provider.issuer],
      scopes_supported: ['vault:read', 'interns'],
    },
    newHome: (env) => makeOriHome({ ORI_BASE_URL: baseUrl, ORI_DAEMON_URL: daemon.url, ...env }),
    async newSignedIn(env) {
      const home = await world.newHome(env);
      await world.signIn(home);
      return home;
    },
    async signIn(home, { user = 'ada', decision = 'allow', args = [], ...run } = {}) {
      const running = home.begin(['login', '--oidc', '--no-browser', ...args], run);
      const [, url = ''] = await running.told(/sign in:\n {2}(\S+)\n/);
      const callback = await walkThrough(new URL(url), { user, decision });
      if (callback === undefined) throw new Error('the sign-in ended without a redirect');
      const page = await fetch(callback);
      return { page, pageText: await page.text(), ...(await running.result) };
    },
    stopIssuer: () => provider.stop(),
    async [Symbol.asyncDispose]() {
      await Promise.all([api.stop(), daemon.stop(), provider.stop()]);
    },
  };
  return world;
}

/** A world for all tests of a file. */
export async function useCliWorld(options?: CliWorldOptions): Promise<CliWorld> {
  const world = await startCliWorld(options);
  afterAll(() => world[Symbol.asyncDispose]());
  return world;
}

/** The same, with one home that is signed in. */
export async function openSignedInWorld(): Promise<{ world: CliWorld; home: OriHome }> {
  const world = await useCliWorld();
  const home = await world.newSignedIn();
  afterAll(() => home[Symbol.asyncDispose]());
  return { world, home };
}

/** Starts a server on a free loopback port: plain HTTP, or TLS as `localhost`. */
export async function listen(
  handler: RequestListener,
  tls?: Tls,
): Promise<{ url: string; stop(): Promise<void>; server: Server } & AsyncDisposable> {
  const served = await serve(tls === undefined ? createServer(handler) : createTlsServer(tls, handler));
  const { server, url, port } = served;
  const stop = () => served[Symbol.asyncDispose]();
  const address = tls === undefined ? url : `https://localhost:${port}`;
  return { server, url: address, stop, [Symbol.asyncDispose]: stop };
}

/** A daemon behind the verifier, with the keys of the world. */
export function guarded(
  world: CliWorld,
  handle: (request: IncomingMessage, response: ServerResponse, proven: Proven) => unknown,
  options: Pick<VerifierOptions, 'answers'> = {},
) {
  const keys = createLocalKeySet(world.jwks);
  const verifier = createVerifier({ internId: INTERN_ID, keys, replay: createTestReplayStore(), ...options });
  return listen(requireProof(verifier, { bodyBytesMax: 4_000_000 }, handle));
}

/** Answers with JSON. */
export function send(res: ServerResponse, { status, headers, body }: Scripted): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers });
  res.end(JSON.stringify(body ?? {}));
}

// A JWT of the test issuer is trusted; an opaque token is looked up, so that a revoked one is
// refused.
async function subjectOf(issuer: string, authorization = ''): Promise<string | undefined> {
  const token = authorization.replace(/^(?:Bearer|DPoP) /, '');
  const [, payload] = token.split('.');
  if (payload !== undefined) {
    const { sub, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return exp > Date.now() / 1000 ? sub : undefined;
  }
  const response = await fetch(`${issuer}/token/introspection`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`ori-signer:${SIGNER_SECRET}`)}` },
    body: new URLSearchParams({ token }),
  });
  return JSON.parse(await response.text()).sub;
}
