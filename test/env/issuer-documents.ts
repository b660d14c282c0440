import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TokenOptions } from './issuer-tokens.ts';

/** The introspection response for an opaque token; `undefined` removes a member. */
export type OpaqueTokenOptions = Pick<TokenOptions, 'subject' | 'scope' | 'claims' | 'expiresInSeconds'>;

export function discoveryDocument(url: string): Record<string, unknown> {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    introspection_endpoint: `${url}/introspect`,
    revocation_endpoint: `${url}/revoke`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'EdDSA', 'RS256'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  };
}

export function introspection(
  authority: { issuer: string; audience: string },
  options: OpaqueTokenOptions,
): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000);
  return {
    active: true,
    iss: authority.issuer,
    aud: authority.audience,
    sub: options.subject ?? 'ada',
    scope: options.scope ?? 'vault:read interns',
    client_id: 'ori-cli',
    token_type: 'Bearer',
    jti: randomUUID(),
    iat: now,
    exp: now + (options.expiresInSeconds ?? 300),
    ...options.claims,
  };
}

/** `client_secret_basic` or `client_secret_post`. */
export function isClient(
  request: IncomingMessage,
  body: URLSearchParams,
  client: { id: string; secret: string },
): boolean {
  const [, credentials = ''] = /^Basic ([A-Za-z0-9+/]+=*)$/.exec(request.headers.authorization ?? '') ?? [];
  // RFC 6749, 2.3.1: both halves are form-encoded.
  const [id = '', secret = ''] = Buffer.from(credentials, 'base64')
    .toString()
    .split(':')
    .map(decodeURIComponent);
  if (id === client.id && secret === client.secret) return true;
  return body.get('client_id') === client.id && body.get('client_secret') === client.secret;
}
