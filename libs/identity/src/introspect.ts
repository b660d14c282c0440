import type { Secret } from '@ori/runtime/secret';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  tokenIntrospection,
} from 'openid-client';
import { checkIntrospection, type TokenExpectation, type TokenFacts } from './access-token.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { IdentityError } from './identity-error.ts';
import type { Issuer, IssuerMetadata } from './issuer.ts';
import { createPlaces } from './places.ts';

export interface IntrospectionOptions {
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly authMethod: 'client_secret_basic' | 'client_secret_post';
  readonly inFlightMax: number;
  /** For one token: waiting for a place, and the call. */
  readonly timeoutMs: number;
}

/** An introspection answer is a handful of claims. */
const fetchBounded = boundedFetch(65_536);

/** Asks the issuer about one opaque token. @throws IdentityError `bearer_refused`, `issuer_unavailable` */
export type Introspect = (token: string, expected: TokenExpectation, now: number) => Promise<TokenFacts>;

/** Introspection (RFC 7662) as the client `clientId`, with a limit on the calls under way and on each one's time. */
export function createIntrospection(
  options: IntrospectionOptions,
  issuer: Pick<Issuer, 'metadata'>,
): Introspect {
  const { inFlightMax, timeoutMs } = options;
  const inPlace = createPlaces(inFlightMax);
  let client: { readonly metadata: IssuerMetadata; readonly configuration: Configuration } | undefined;

  async function configured(): Promise<Configuration> {
    const metadata = await issuer.metadata();
    if (metadata.introspection_endpoint === undefined) {
      throw new IdentityError('issuer_unavailable', 'the issuer has no introspection endpoint');
    }
    if (client?.metadata !== metadata) client = { metadata, configuration: configure(options, metadata) };
    return client.configuration;
  }

  return async (token, expected, now) => {
    const configuration = await configured();
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await inPlace(signal, () => tokenIntrospection(configuration, token)).catch((cause) => {
      throw new IdentityError('issuer_unavailable', 'the issuer did not introspect the token', { cause });
    });
    return checkIntrospection(answer, expected, now);
  };
}

function configure(options: IntrospectionOptions, metadata: IssuerMetadata): Configuration {
  const { clientId, clientSecret, authMethod, timeoutMs } = options;
  const { issuer, jwks_uri, introspection_endpoint } = metadata;
  const authenticate = authMethod === 'client_secret_basic' ? ClientSecretBasic : ClientSecretPost;
  const configuration = new Configuration(
    { issuer, jwks_uri, ...(introspection_endpoint === undefined ? {} : { introspection_endpoint }) },
    clientId,
    {},
    authenticate(clientSecret.reveal()),
  );
  configuration.timeout = timeoutMs / 1000;
  configuration[customFetch] = (url, init) => fetchBounded(url, init as RequestInit);
  // Whether plain http is permitted was judged with the issuer's own address.
  if (introspection_endpoint?.startsWith('http:')) allowInsecureRequests(configuration);
  return configuration;
}
