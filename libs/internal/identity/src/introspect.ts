import { readBounded } from '@ori/remote-json';
import { createFairSemaphore } from '@ori/runtime/fair-semaphore';
import type { Secret } from '@ori/runtime/secret';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  tokenIntrospection,
} from 'openid-client';
import { checkIntrospection, type TokenFacts } from './access-token.ts';
import type { TokenExpectation } from './expectation.ts';
import { IdentityError } from './identity-error.ts';
import type { Issuer, IssuerMetadata } from './issuer.ts';

export interface IntrospectionOptions {
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly authMethod: 'client_secret_basic' | 'client_secret_post';
  readonly inFlightMax: number;
  /** Time limit for one token, in milliseconds: waiting for a slot, and the call. */
  readonly timeoutMs: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** An introspection answer has only a few claims. */
const ANSWER_BYTES_MAX = 65_536;

/** The origin of an opaque token, which decides its place in the queue for introspection. */
export interface Arrival {
  /** The client's network: networks take turns. */
  readonly network: string;
  /** Whether it was valid before, as random tokens never were. Some slots are reserved for such tokens. */
  readonly isFamiliar: boolean;
}

/** Asks the issuer about one opaque token. @throws IdentityError `bearer_refused`, `issuer_unavailable` */
export type Introspect = (
  token: string,
  expected: TokenExpectation,
  now: number,
  arrival: Arrival,
) => Promise<TokenFacts>;

/**
 * Introspection (RFC 7662) as the client `clientId`, with limits on concurrent calls and on the time of each. A quarter
 * of the slots is reserved for tokens that were valid before, so that a flood of random ones does not interrupt
 * sessions.
 */
export function createIntrospection(
  options: IntrospectionOptions,
  issuer: Pick<Issuer, 'metadata'>,
): Introspect {
  const { inFlightMax, timeoutMs } = options;
  const familiar = Math.ceil(inFlightMax / 4);
  const line = { budget: 'introspections', waitingPerKeyMax: 64, waitingMax: 1000 } as const;
  const familiarInPlace = createFairSemaphore({ ...line, permits: familiar });
  const strangerInPlace = createFairSemaphore({ ...line, permits: Math.max(1, inFlightMax - familiar) });
  let client: { readonly metadata: IssuerMetadata; readonly configuration: Configuration } | undefined;

  async function configured(): Promise<Configuration> {
    const metadata = await issuer.metadata();
    if (client?.metadata !== metadata) client = { metadata, configuration: configure(options, metadata) };
    return client.configuration;
  }

  return async (token, expected, now, { network, isFamiliar }) => {
    const configuration = await configured();
    const signal = AbortSignal.timeout(timeoutMs);
    const inPlace = isFamiliar ? familiarInPlace : strangerInPlace;
    const answer = await inPlace(network, { signal }, () => tokenIntrospection(configuration, token)).catch(
      (cause) => {
        throw new IdentityError('issuer_unavailable', 'the introspection failed', { cause });
      },
    );
    return checkIntrospection(answer, expected, now);
  };
}

/** @throws IdentityError `issuer_unavailable` without an endpoint on the origin of the issuer */
function endpointOf({ issuer, introspection_endpoint: endpoint }: IssuerMetadata): string {
  if (typeof endpoint === 'string' && URL.parse(endpoint)?.origin === new URL(issuer).origin) return endpoint;
  throw new IdentityError('issuer_unavailable', 'the issuer has no introspection endpoint on its own origin');
}

function configure(options: IntrospectionOptions, metadata: IssuerMetadata): Configuration {
  const { clientId, clientSecret, authMethod, timeoutMs } = options;
  const ask = options.fetch ?? fetch;
  const { issuer, jwks_uri } = metadata;
  const introspection_endpoint = endpointOf(metadata);
  const authenticate = authMethod === 'client_secret_basic' ? ClientSecretBasic : ClientSecretPost;
  const configuration = new Configuration(
    { issuer, jwks_uri, introspection_endpoint },
    clientId,
    {},
    authenticate(clientSecret.reveal()),
  );
  configuration.timeout = timeoutMs / 1000;
  configuration[customFetch] = async (url, init) => {
    const response = await ask(url, { ...(init as RequestInit), redirect: 'manual' });
    return new Response(await readBounded(response, ANSWER_BYTES_MAX, new URL(url)), response);
  };
  // Whether plain http is permitted was already checked for the issuer's own address.
  if (introspection_endpoint.startsWith('http:')) allowInsecureRequests(configuration);
  return configuration;
}
