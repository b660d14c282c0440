import { type Config, choice, flag, integer, list, secret, text, url } from '@ori/runtime/config';

/** The settings for the access tokens that a service accepts. */
export const IDENTITY_SPEC = {
  issuer: url({ doc: 'The OpenID issuer, exactly as in `iss` of its tokens' }),
  audience: text({
    doc: 'What `aud` of an access token must hold: the public base address, where the issuer permits',
  }),
  baseUrl: url({
    optional: true,
    doc: 'The public base address, ending in `/v1`; the audience, where that is one',
  }),
  clients: list({
    default: ['ori-cli'],
    doc: 'Clients of the issuer whose tokens are taken: their `client_id`, or `azp`',
    item: 'client id',
    pattern: /^[\x21\x23-\x2b\x2d-\x7e]+$/,
  }),
  tokenLifetimeMaxSeconds: integer({
    min: 60,
    max: 604_800,
    default: 86_400,
    doc: 'The longest time for which a token may be valid, from `iat` to `exp`',
    unit: 's',
  }),
  requireAuthTime: flag({
    default: false,
    doc: 'Whether every token must say in `auth_time` when its person signed in; where sessions were revoked, it must anyway',
  }),
  introspectionClientId: text({
    optional: true,
    doc: 'Client that may introspect opaque tokens; without it they are refused',
  }),
  introspectionClientSecret: secret({ optional: true, doc: 'Its secret' }),
  introspectionAuthMethod: choice(['client_secret_basic', 'client_secret_post'], {
    default: 'client_secret_basic',
    doc: 'How it authenticates to the issuer',
  }),
  introspectionsInFlightMax: integer({
    min: 1,
    max: 1000,
    default: 64,
    doc: 'Introspections under way at once; more of them wait',
    unit: 'calls',
  }),
  issuerCoolDownSeconds: integer({
    min: 1,
    max: 300,
    default: 5,
    doc: 'Shortest time between two fetches of the same document of the issuer, after success and failure alike',
    unit: 's',
  }),
  issuerAllowPlainHttp: flag({
    default: false,
    doc: 'Permits an `http:` issuer beyond loopback: anyone on that network can then forge tokens',
  }),
  requireDpop: flag({
    default: false,
    doc: 'Refuses every session that is not bound to a key (RFC 9449): a stolen token is then worth nothing',
  }),
  dpopRequireNonce: flag({
    default: true,
    doc: "Whether a DPoP proof must carry a nonce of ours; without one the client's clock decides how old a proof may be",
  }),
} as const;

type Loaded = Config<typeof IDENTITY_SPEC>;

/** The issuer whose tokens a service accepts, and its public address. */
export type IdentityConfig = Omit<Loaded, 'baseUrl'> & { readonly baseUrl: string };

/** The public base address: as given, otherwise the audience. Checked by {@link complaintsOfIdentity}. */
export function baseUrlOf({ baseUrl, audience }: Pick<Loaded, 'baseUrl' | 'audience'>): string {
  return baseUrl ?? audience;
}

/** Conflicts between values that are valid on their own, as messages for the operator. */
export function complaintsOfIdentity(prefix: string, config: Loaded): string[] {
  const complaints: string[] = [];
  if (!isBaseUrl(baseUrlOf(config))) {
    const name =
      config.baseUrl === undefined
        ? `${prefix}_BASE_URL: required, because ${prefix}_AUDIENCE is none:`
        : `${prefix}_BASE_URL:`;
    complaints.push(`${name} expected a URL whose path ends in /v1, without query or fragment`);
  }
  if (!config.issuerAllowPlainHttp && !isHttpsOrLoopback(config.issuer)) {
    complaints.push(
      `${prefix}_ISSUER: expected https, or http on loopback; ${prefix}_ISSUER_ALLOW_PLAIN_HTTP=true permits more`,
    );
  }
  if ((config.introspectionClientId === undefined) !== (config.introspectionClientSecret === undefined)) {
    complaints.push(
      `${prefix}_INTROSPECTION_CLIENT_ID and ${prefix}_INTROSPECTION_CLIENT_SECRET: set both or neither`,
    );
  }
  return complaints;
}

function isBaseUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:\/\/[^?#]*\/v1$/.test(value);
}

function isHttpsOrLoopback(value: string): boolean {
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
