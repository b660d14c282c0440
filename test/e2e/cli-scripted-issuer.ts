import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, type Scripted, send } from './cli-world.ts';

/** An issuer whose responses a test can change; by default it signs `user_2abc` in. */
export interface ScriptedIssuer extends AsyncDisposable {
  readonly url: string;
  /** Members of its metadata to replace. */
  metadata: Record<string, unknown>;
  /** Headers of its metadata, for a request that a cache may answer. */
  cachedHeaders: Record<string, string>;
  /** Members of its token responses to replace. */
  tokenMembers: Record<string, unknown>;
  /** Changes the ID token of every token response. */
  idToken: IdTokenBend;
  /** The next answers of the token endpoint; `cut` closes the connection instead. */
  readonly tokenAnswers: (Scripted | 'cut')[];
  deviceAnswer: Record<string, unknown>;
  /** Requests to the token endpoint: their form, their DPoP proof, and their time in milliseconds. */
  readonly tokenRequests: { form: URLSearchParams; dpop: unknown; at: number }[];
  /** The forms of the revocation requests. */
  readonly revocations: Record<string, string>[];
  /** The next answers to them. */
  readonly revocationAnswers: Scripted[];
  /** The redirect that the issuer sends for the authorization request `url`. */
  redirectOf(url: string, changes?: Record<string, string | undefined>): string;
}

export interface IdTokenBend {
  readonly claims?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
  readonly foreignKey?: boolean;
  readonly left?: 'out' | 'unsigned';
}

export async function startScriptedIssuer(): Promise<ScriptedIssuer> {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  let nonce: string | null = null;

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(req));
    if (req.url === '/.well-known/openid-configuration') {
      const headers = req.headers['cache-control'] === 'no-cache' ? {} : issuer.cachedHeaders;
      return send(res, { status: 200, headers, body: discovery() });
    }
    if (req.url === '/jwks')
      return send(res, { status: 200, body: { keys: [own.publicKey.export({ format: 'jwk' })] } });
    if (req.url === '/device') return send(res, { status: 200, body: issuer.deviceAnswer });
    if (req.url === '/revoke') {
      issuer.revocations.push(Object.fromEntries(form));
      return send(res, issuer.revocationAnswers.shift() ?? { status: 200 });
    }
    if (req.url !== '/token') return send(res, { status: 404 });
    issuer.tokenRequests.push({ form, dpop: req.headers['dpop'], at: performance.now() });
    const script = issuer.tokenAnswers.shift();
    if (script === 'cut') req.socket.destroy();
    else send(res, script ?? { status: 200, body: tokens() });
  }

  function discovery(): Record<string, unknown> {
    return {
      issuer: server.url,
      authorization_endpoint: `${server.url}/authorize`,
      token_endpoint: `${server.url}/token`,
      device_authorization_endpoint: `${server.url}/device`,
      revocation_endpoint: `${server.url}/revoke`,
      jwks_uri: `${server.url}/jwks`,
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
      ...issuer.metadata,
    };
  }

  function tokens(): Record<string, unknown> {
    const { claims, header, foreignKey = false, left } = issuer.idToken;
    const now = Math.floor(Date.now() / 1000);
    const payload = {
      iss: server.url,
      aud: 'ori-cli',
      sub: 'user_2abc',
      iat: now,
      exp: now + 60,
      ...(nonce === null ? {} : { nonce }),
      ...claims,
    };
    const unsigned = {
      access_token: 'opaque-access',
      token_type: 'Bearer',
      expires_in: 600,
      refresh_token: 'opaque-refresh',
    };
    Object.assign(unsigned, issuer.tokenMembers);
    if (left === 'out') return unsigned;
    const jwt = signJwt({ alg: 'ES256', ...header }, payload, (foreignKey ? foreign : own).privateKey);
    return { ...unsigned, id_token: left === 'unsigned' ? jwt.replace(/[^.]*$/, '') : jwt };
  }

  const server = await listen((req, res) => void serve(req, res));
  const issuer: ScriptedIssuer = {
    url: server.url,
    metadata: {},
    cachedHeaders: {},
    tokenMembers: {},
    idToken: {},
    tokenAnswers: [],
    tokenRequests: [],
    revocations: [],
    revocationAnswers: [],
    deviceAnswer: {
      device_code: 'device-code',
      user_code: 'BCDF-GHJK',
      verification_uri: `${server.url}/activate`,
      expires_in: 60,
      interval: 0.1,
    },
    redirectOf(url, changes = {}) {
      const asked = new URL(url).searchParams;
      nonce = asked.get('nonce');
      const redirect = new URL(asked.get('redirect_uri') ?? '');
      const answer = { code: 'the-code', state: asked.get('state') ?? '', iss: server.url, ...changes };
      for (const [name, value] of Object.entries(answer))
        if (value !== undefined) redirect.searchParams.set(name, value);
      return redirect.href;
    },
    [Symbol.asyncDispose]: server.stop,
  };
  return issuer;
}

function signJwt(header: object, payload: object, key: KeyObject): string {
  const input = [header, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = createSign('sha256').update(input).sign({ key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}
