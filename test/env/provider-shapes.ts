/** A provider's access and ID token as its documentation shows them, and the entry of the file of issuers for it. */
export interface ProviderShape {
  readonly name: string;
  /** Without the `issuer` of an entry, and the `audience` if it is the first of the access token. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly typ: string | undefined;
  readonly access: Readonly<Record<string, unknown>>;
  readonly idTyp: string | undefined;
  readonly id: Readonly<Record<string, unknown>>;
  /** What the token must come to. */
  readonly expected: {
    readonly subject: string;
    readonly scopes: readonly string[];
    readonly isDated: boolean;
  };
}

const NOW = Math.floor(Date.now() / 1000);
const TIMES = { iat: NOW - 10, exp: NOW + 3590 };

/** Source: the providers' documentation of their tokens. */
export const PROVIDER_SHAPES: readonly ProviderShape[] = [
  {
    name: 'Okta, custom authorization server',
    settings: {
      clients: ['0oanmdp1fcyvdvo11ael'],
      tokenTypes: ['none', 'JWT'],
      claims: { subject: 'uid', client: 'cid', scope: 'scp' },
      scopes: { 'vault:read': 'vault:read', interns: 'interns' },
    },
    typ: undefined,
    access: {
      ver: 1,
      jti: 'AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE',
      ...TIMES,
      iss: 'https://dev-1.okta.test/oauth2/default',
      aud: 'https://api.test/v1',
      cid: '0oanmdp1fcyvdvo11ael',
      uid: '00ujmkLgagxeRrAg20g3',
      sub: 'ada@example.test',
      scp: ['openid', 'vault:read', 'interns'],
      auth_time: NOW - 60,
    },
    idTyp: undefined,
    id: {
      ver: 1,
      jti: 'ID.4eAWJOCMB3SX8XewDfVR',
      ...TIMES,
      auth_time: NOW - 60,
      uid: '00ujmkLgagxeRrAg20g3',
      iss: 'https://dev-1.okta.test/oauth2/default',
      aud: '0oanmdp1fcyvdvo11ael',
      sub: '00ujmkLgagxeRrAg20g3',
      amr: ['pwd'],
      nonce: 'n-0S6_WzA2Mj',
      at_hash: 'preyx4K2Q1bLdzB8m9_qQw',
    },
    expected: { subject: '00ujmkLgagxeRrAg20g3', scopes: ['vault:read', 'interns'], isDated: true },
  },
  {
    name: 'Microsoft Entra ID, v2.0',
    settings: {
      clients: ['14c5a1f0-7ef1-4f53-9ca0-4eb3dbe5e0a1'],
      tokenTypes: ['JWT'],
      claims: { subject: 'oid', client: 'azp', scope: 'scp' },
      scopes: { 'vault:read': 'vault.read', interns: 'interns' },
      signIn: { scopes: ['api://6e74172b/vault.read', 'api://6e74172b/interns'], resource: false },
    },
    typ: 'JWT',
    access: {
      aud: '6e74172b-be56-4843-9ff4-e66a39bb12e3',
      ver: '2.0',
      ...TIMES,
      nbf: NOW - 10,
      iss: 'https://login.microsoftonline.test/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0',
      aio: 'AXQAi/8IAAAA',
      azp: '14c5a1f0-7ef1-4f53-9ca0-4eb3dbe5e0a1',
      azpacr: '0',
      name: 'Ada',
      oid: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
      preferred_username: 'ada@example.test',
      rh: 'I',
      scp: 'vault.read interns',
      sub: 'HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ',
      uti: 'fqiBqXLPj0eQa82S',
      tid: '72f988bf-86f1-41af-91ab-2d7cd011db47',
    },
    idTyp: 'JWT',
    id: {
      aud: '14c5a1f0-7ef1-4f53-9ca0-4eb3dbe5e0a1',
      ver: '2.0',
      ...TIMES,
      nbf: NOW - 10,
      iss: 'https://login.microsoftonline.test/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0',
      name: 'Ada',
      nonce: '123523',
      oid: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
      rh: 'I',
      uti: 'fqiBqXLP',
      sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
      tid: '72f988bf-86f1-41af-91ab-2d7cd011db47',
    },
    expected: {
      subject: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
      scopes: ['vault:read', 'interns'],
      isDated: false,
    },
  },
  {
    name: 'Auth0, its own dialect',
    settings: {
      clients: ['S6w2'],
      tokenTypes: ['JWT'],
      claims: { client: 'azp', authTime: 'https://ori.test/auth_time' },
    },
    typ: 'JWT',
    access: {
      iss: 'https://tenant.auth0.test/',
      sub: 'auth0|5f7c',
      azp: 'S6w2',
      ...TIMES,
      aud: ['https://api.test/v1', 'https://tenant.auth0.test/userinfo'],
      scope: 'openid vault:read interns',
      'https://ori.test/auth_time': NOW - 60,
    },
    idTyp: 'JWT',
    id: {
      iss: 'https://tenant.auth0.test/',
      sub: 'auth0|5f7c',
      aud: 'S6w2',
      ...TIMES,
      sid: 's1',
      nonce: 'n',
      nickname: 'ada',
      name: 'Ada',
      email: 'ada@example.test',
      email_verified: true,
    },
    expected: { subject: 'auth0|5f7c', scopes: ['openid', 'vault:read', 'interns'], isDated: true },
  },
  {
    name: 'Keycloak, typ JWT',
    settings: { tokenTypes: ['JWT'] },
    typ: 'JWT',
    access: {
      ...TIMES,
      auth_time: NOW - 60,
      jti: 'onrtac:6ac4',
      iss: 'https://keycloak.test/realms/ori',
      aud: 'https://api.test/v1',
      sub: '8f3b7c1e-1',
      typ: 'Bearer',
      azp: 'ori-cli',
      sid: '7b1f',
      acr: '1',
      'allowed-origins': ['/*'],
      scope: 'openid vault:read interns profile',
    },
    idTyp: 'JWT',
    id: {
      ...TIMES,
      auth_time: NOW - 60,
      jti: '9c2e',
      iss: 'https://keycloak.test/realms/ori',
      aud: 'ori-cli',
      sub: '8f3b7c1e-1',
      typ: 'ID',
      azp: 'ori-cli',
      sid: '7b1f',
      at_hash: 'x6',
      acr: '1',
    },
    expected: {
      subject: '8f3b7c1e-1',
      scopes: ['openid', 'vault:read', 'interns', 'profile'],
      isDated: true,
    },
  },
  {
    name: 'Authentik',
    settings: { clients: ['p9sM'], tokenTypes: ['JWT'], claims: { client: 'azp' } },
    typ: 'JWT',
    access: {
      iss: 'https://authentik.test/application/o/ori/',
      sub: 'f5e3',
      aud: 'https://api.test/v1',
      ...TIMES,
      auth_time: NOW - 60,
      acr: 'goauthentik.io/providers/oauth2/default',
      azp: 'p9sM',
      uid: 'k1',
      scope: 'openid vault:read interns',
      sid: 's7',
    },
    idTyp: 'JWT',
    id: {
      iss: 'https://authentik.test/application/o/ori/',
      sub: 'f5e3',
      aud: 'p9sM',
      ...TIMES,
      uid: 'k1',
      auth_time: NOW - 60,
      acr: 'goauthentik.io/providers/oauth2/default',
      azp: 'p9sM',
      nonce: 'n',
      at_hash: 'h',
    },
    expected: { subject: 'f5e3', scopes: ['openid', 'vault:read', 'interns'], isDated: true },
  },
  {
    // Its code: `makeJWT` of Lemonldap::NG::Portal::Lib::OpenIDConnect. The client is always among the audiences.
    name: 'LemonLDAP::NG 2.21',
    settings: { audience: 'https://api.test/v1' },
    typ: 'at+JWT',
    access: {
      iss: 'https://auth.lemonldap.test/',
      aud: ['ori-cli', 'https://api.test/v1'],
      ...TIMES,
      client_id: 'ori-cli',
      jti: 'c4e1',
      sid: 'b7',
      sub: 'ada',
      scope: 'openid vault:read interns',
    },
    idTyp: 'JWT',
    id: {
      iss: 'https://auth.lemonldap.test/',
      aud: ['ori-cli', 'https://api.test/v1'],
      ...TIMES,
      azp: 'ori-cli',
      sub: 'ada',
      sid: 'b7',
      acr: 'loa-2',
      auth_time: NOW - 60,
      at_hash: 'h',
    },
    expected: { subject: 'ada', scopes: ['openid', 'vault:read', 'interns'], isDated: false },
  },
  {
    // docs/OIDC.md of Glewlwyd, "Access token format".
    name: 'Glewlwyd 2.7',
    settings: { signIn: { redirectPort: 8400 } },
    typ: 'at+jwt',
    access: {
      iss: 'https://glewlwyd.test/',
      sub: '4321zyxdcba',
      aud: 'https://api.test/v1',
      ...TIMES,
      client_id: 'ori-cli',
      jti: 'abcdxyz1234',
      type: 'access_token',
      nbf: NOW - 10,
      claims: {},
      scope: 'openid vault:read interns',
    },
    idTyp: 'JWT',
    id: {
      iss: 'https://glewlwyd.test/',
      sub: '4321zyxdcba',
      aud: 'ori-cli',
      ...TIMES,
      azp: 'ori-cli',
      amr: ['password'],
      auth_time: NOW - 60,
      nonce: 'n',
      at_hash: 'h',
    },
    expected: { subject: '4321zyxdcba', scopes: ['openid', 'vault:read', 'interns'], isDated: false },
  },
  {
    name: 'better-auth, oidc-provider and others of RFC 9068',
    settings: {},
    typ: 'at+jwt',
    access: {
      iss: 'https://rfc9068.test',
      aud: 'https://api.test/v1',
      sub: 'ada',
      ...TIMES,
      jti: 'j',
      client_id: 'ori-cli',
      scope: 'vault:read interns',
    },
    idTyp: 'JWT',
    id: { iss: 'https://rfc9068.test', aud: 'ori-cli', sub: 'ada', ...TIMES, nonce: 'n', at_hash: 'h' },
    expected: { subject: 'ada', scopes: ['vault:read', 'interns'], isDated: false },
  },
];

/** Signed tokens that no settings may accept, of providers that have no other ones. */
export const UNUSABLE_TOKENS: readonly {
  readonly name: string;
  readonly client: string;
  readonly audience: string;
  readonly claims: Readonly<Record<string, unknown>>;
}[] = [
  {
    // developers.google.com/identity/openid-connect: access tokens are opaque and cannot be introspected (RFC 7662).
    name: 'the ID token of Google',
    client: '1234987819200.apps.googleusercontent.test',
    audience: 'https://api.test/v1',
    claims: {
      iss: 'https://accounts.google.test',
      azp: '1234987819200.apps.googleusercontent.test',
      ...TIMES,
      aud: '1234987819200.apps.googleusercontent.test',
      sub: '10769150350006150715113082367',
      at_hash: 'HK6E_P6Dh8Y93mRNtsDB1Q',
      hd: 'example.test',
      nonce: '0394852-3190485-2490358',
      email: 'jsmith@example.test',
      email_verified: true,
    },
  },
  {
    // `makeJWT` in Debian 12. The audiences are the same as those of its ID token.
    name: 'the access token of LemonLDAP::NG 2.16',
    client: 'ori-cli',
    audience: 'https://api.test/v1',
    claims: {
      iss: 'https://auth.lemonldap.test',
      aud: ['ori-cli', 'https://api.test/v1'],
      ...TIMES,
      client_id: 'ori-cli',
      jti: 'c4e1',
      sub: 'ada',
      scope: 'openid vault:read interns',
    },
  },
];
