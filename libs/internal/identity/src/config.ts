import { type Config, flag, list, path, secret, text, url } from '@ori/runtime/config';
import { isHttpsOrLoopback } from './https-or-loopback.ts';
import {
  clientToName,
  type IssuerSettings,
  LIFETIME_MAX_SECONDS,
  OUR_SCOPES,
  readIssuersFile,
} from './issuers-file.ts';

/** The settings for the access tokens that a service accepts. */
export const IDENTITY_SPEC = {
  issuer: url({
    optional: true,
    doc: 'The OpenID issuer, exactly as in `iss` of its tokens; or `…_ISSUERS_FILE`',
  }),
  issuersFile: path({
    optional: true,
    doc: 'Several issuers, or one whose tokens differ from RFC 9068: a JSON file',
  }),
  audience: text({
    optional: true,
    doc: 'What `aud` of an access token must contain; default: `…_BASE_URL`',
  }),
  baseUrl: url({
    optional: true,
    doc: 'The public base address, ending in `/v1`; default: `…_AUDIENCE`',
  }),
  clients: list({
    default: ['ori-cli'],
    doc: 'Clients of the issuer whose tokens are accepted: their `client_id`, or `azp`',
    item: 'client id',
    pattern: /^[\x21\x23-\x2b\x2d-\x7e]+$/,
  }),
  introspectionClientId: text({
    optional: true,
    doc: 'Client that may introspect opaque tokens; without it they are refused',
  }),
  introspectionClientSecret: secret({
    optional: true,
    doc: 'Its secret, sent as `client_secret_basic`; `…_ISSUERS_FILE` has the other way',
  }),
  requireDpop: flag({
    default: false,
    doc: 'Refuses every session that is not bound to a key (RFC 9449): a stolen token is then useless',
  }),
  dpopRequireContent: flag({
    default: true,
    doc: "Whether a DPoP proof must contain the claim `x-camara:bh` over the request's content; without it a server in between can change the request of a bound session",
  }),
} as const;

type Loaded = Config<typeof IDENTITY_SPEC>;

/** The issuers whose tokens a service accepts, and its public address. */
export type IdentityConfig = Omit<Loaded, 'baseUrl'> & {
  readonly baseUrl: string;
  readonly issuers: readonly IssuerSettings[];
};

/**
 * Derives the issuers and the public base address from the settings.
 *
 * @param problems gets a message for the operator for each conflict between values that are valid on their own
 */
export function completeIdentity(
  prefix: string,
  config: Loaded,
  problems: string[],
): Pick<IdentityConfig, 'issuers' | 'baseUrl'> {
  const report = (problem: string) => problems.push(`${prefix}_${problem}`);
  const { introspectionClientId, introspectionClientSecret, issuersFile, audience } = config;
  const baseUrl = config.baseUrl ?? audience;
  if (baseUrl === undefined) report('AUDIENCE: required, or the base URL');
  else if (!isBaseUrl(baseUrl)) {
    const where =
      config.baseUrl === undefined
        ? `BASE_URL: required, because ${prefix}_AUDIENCE is not a base URL:`
        : 'BASE_URL:';
    report(`${where} expected a URL whose path ends in /v1, without query or fragment`);
  }
  if ((introspectionClientId === undefined) !== (introspectionClientSecret === undefined)) {
    report(`INTROSPECTION_CLIENT_ID and ${prefix}_INTROSPECTION_CLIENT_SECRET: set both or neither`);
  }
  if ((config.issuer === undefined) === (issuersFile === undefined)) {
    report(`ISSUER: set either this or ${prefix}_ISSUERS_FILE`);
  }
  if (issuersFile !== undefined && introspectionClientId !== undefined) {
    report('INTROSPECTION_CLIENT_ID: set it in the file of issuers instead');
  }
  const defaults = { audience: audience ?? baseUrl, clients: config.clients };
  const issuers =
    issuersFile === undefined
      ? [onlyIssuer(config, baseUrl ?? '')]
      : readIssuersFile(issuersFile, defaults, (problem) => report(`ISSUERS_FILE: ${problem}`));
  for (const [index, { issuer }] of issuers.entries()) {
    if (issuer === '' || isHttpsOrLoopback(issuer)) continue;
    const place = issuersFile === undefined ? 'ISSUER' : `ISSUERS_FILE: issuers[${index}].issuer`;
    report(`${place}: expected https, or http on loopback`);
  }
  return { issuers, baseUrl: baseUrl ?? '' };
}

/** What the settings permit that most operators would rather refuse, for `check-config`. */
export function leavesOpen(prefix: string, { requireDpop }: Pick<Loaded, 'requireDpop'>): readonly string[] {
  if (requireDpop) return [];
  return [
    `${prefix}_REQUIRE_DPOP=false: sessions that are not bound to a key are accepted, so whoever gets such a token, as a server between ori and the API does, can use it`,
  ];
}

/** The issuer that is configured without a file; its tokens follow RFC 9068. */
function onlyIssuer(config: Loaded, baseUrl: string): IssuerSettings {
  const { introspectionClientId: clientId, introspectionClientSecret: clientSecret } = config;
  return {
    issuer: config.issuer ?? '',
    audience: config.audience ?? baseUrl,
    clients: config.clients,
    lifetimeMaxSeconds: LIFETIME_MAX_SECONDS,
    requiresAuthTime: false,
    introspection:
      clientId === undefined || clientSecret === undefined
        ? undefined
        : { clientId, clientSecret, authMethod: 'client_secret_basic', tokenPrefix: '' },
    signIn: { clientId: clientToName(config.clients), scopes: OUR_SCOPES, resource: true, consent: true },
  };
}

function isBaseUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:\/\/[^?#]*\/v1$/.test(value);
}
