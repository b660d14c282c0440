import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { pageHeaders } from '@ori/faces/html';
import { type Configuration, errors } from 'oidc-provider';
import { deviceFlow } from './device-pages.ts';
import { createMemoryAdapterFactory } from './memory-adapter.ts';
import { type ProviderUser, renderProblemPage } from './pages.ts';

export const CLIENT_ID = 'ori-cli';
export const OPAQUE_CLIENT_ID = 'ori-cli-opaque';
export const SIGNER_CLIENT_ID = 'ori-signer';
export const RESOURCE_SCOPES = ['vault:read', 'interns'] as const;

const SIGNING_ALGORITHM = 'ES256';
const HOUR_SECONDS = 3600;

/**
 * The configuration of the demo provider: its clients, its one resource, its members, and everything else switched off.
 */
export function providerConfiguration(options: {
  users: readonly ProviderUser[];
  resource: string;
  signerClientSecret: string;
}): Configuration {
  return {
    adapter: createMemoryAdapterFactory(),
    clients: [
      cliClient(CLIENT_ID, 'ori CLI'),
      cliClient(OPAQUE_CLIENT_ID, 'ori CLI (opaque tokens)'),
      signerClient(options),
    ],
    clientDefaults: { id_token_signed_response_alg: SIGNING_ALGORITHM },
    clientAuthMethods: ['client_secret_basic', 'none'],
    jwks: { keys: [createSigningKey()] },
    enabledJWA: {
      idTokenSigningAlgValues: [SIGNING_ALGORITHM],
      dPoPSigningAlgValues: ['ES256', 'EdDSA', 'Ed25519'],
    },
    responseTypes: ['code'],
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub', 'name'] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    clientBasedCORS: () => false,
    rotateRefreshToken: true,
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      DeviceCode: 600,
      IdToken: HOUR_SECONDS,
      Interaction: 600,
      RefreshToken: 24 * HOUR_SECONDS,
      Session: 24 * HOUR_SECONDS,
      Grant: 24 * HOUR_SECONDS,
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      deviceFlow,
      resourceIndicators: {
        enabled: true,
        defaultResource: () => options.resource,
        useGrantedResource: () => true,
        getResourceServerInfo(_ctx, resource, client) {
          if (resource !== options.resource) throw new errors.InvalidTarget();
          const accessTokenFormat = client.clientId === OPAQUE_CLIENT_ID ? 'opaque' : 'jwt';
          const jwt = { sign: { alg: SIGNING_ALGORITHM } } as const;
          return { scope: RESOURCE_SCOPES.join(' '), audience: resource, accessTokenFormat, jwt };
        },
      },
      introspection: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) =>
          client.clientId === SIGNER_CLIENT_ID && 'aud' in token && token.aud === options.resource,
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
    },
    extraTokenClaims(ctx) {
      const { AuthorizationCode, DeviceCode, RefreshToken } = ctx.oidc.entities;
      const authTime = (AuthorizationCode ?? DeviceCode ?? RefreshToken)?.authTime;
      return authTime === undefined ? undefined : { auth_time: authTime };
    },
    findAccount(_ctx, subject) {
      const user = options.users.find((candidate) => candidate.subject === subject);
      return user && { accountId: subject, claims: () => ({ sub: subject, name: user.name }) };
    },
    renderError(ctx, { error, error_description: description }) {
      ctx.set(pageHeaders());
      const sentence = description ?? 'the request was refused';
      ctx.body = renderProblemPage({
        sentence: `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`,
        code: error,
      });
    },
  };
}

function cliClient(clientId: string, name: string) {
  return {
    client_id: clientId,
    client_name: name,
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    response_modes: ['query'],
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    redirect_uris: ['127.0.0.1', '[::1]', 'localhost'].flatMap((host) => [
      `http://${host}/callback`,
      `http://${host}/`,
    ]),
  } as const;
}

function signerClient({ signerClientSecret }: { signerClientSecret: string }) {
  return {
    client_id: SIGNER_CLIENT_ID,
    client_name: 'ori signer',
    client_secret: signerClientSecret,
    token_endpoint_auth_method: 'client_secret_basic',
    response_types: [],
    grant_types: [],
    redirect_uris: [],
  } as const;
}

function createSigningKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: SIGNING_ALGORITHM };
}
