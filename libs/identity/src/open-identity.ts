import type { IdentityConfig } from './config.ts';
import { createIdentities, type Identities, type IdentitiesOptions } from './identities.ts';
import { createIntrospection, type Introspect } from './introspect.ts';
import { createIssuer, type Issuer } from './issuer.ts';

/**
 * Time limits for one document of the issuer and for one introspection with its wait, in milliseconds: together below
 * one second.
 */
const DOCUMENT_TIMEOUT_MS = 400;
const INTROSPECTION_TIMEOUT_MS = 700;

export interface OpenIdentity<ApiKey> extends Identities<ApiKey> {
  /** @throws IdentityError `issuer_unavailable` if tokens cannot be verified now */
  check(): Promise<void>;
  /** Seconds since the issuer's keys were last fetched; NaN before the first time. */
  keysAgeSeconds(): number;
  close(): void;
}

/** The configured identification of callers. Does not contact the issuer before the first request. */
export function openIdentity<ApiKey>(
  config: IdentityConfig,
  options: Pick<IdentitiesOptions<ApiKey>, 'apiKey' | 'now' | 'onLookup'> & {
    /** The global one unless given. */
    readonly fetch?: typeof fetch | undefined;
  },
): OpenIdentity<ApiKey> {
  const { fetch } = options;
  const issuer = createIssuer({
    fetch,
    issuer: config.issuer,
    coolDownSeconds: config.issuerCoolDownSeconds,
    timeoutMs: DOCUMENT_TIMEOUT_MS,
    allowPlainHttp: config.issuerAllowPlainHttp,
  });
  const { identify } = createIdentities({
    ...options,
    expected: {
      issuer: config.issuer,
      audience: config.audience,
      clients: config.clients,
      lifetimeMaxSeconds: config.tokenLifetimeMaxSeconds,
      requiresAuthTime: config.requireAuthTime,
    },
    issuer,
    introspect: introspectionOf(config, issuer, fetch),
  });
  return { identify, check: issuer.check, keysAgeSeconds: issuer.keysAgeSeconds, close: issuer.close };
}

function introspectionOf(
  config: IdentityConfig,
  issuer: Issuer,
  fetch: typeof globalThis.fetch | undefined,
): Introspect | undefined {
  const { introspectionClientId: clientId, introspectionClientSecret: clientSecret } = config;
  if (clientId === undefined || clientSecret === undefined) return undefined;
  const { introspectionAuthMethod: authMethod, introspectionsInFlightMax: inFlightMax } = config;
  return createIntrospection(
    { clientId, clientSecret, authMethod, inFlightMax, timeoutMs: INTROSPECTION_TIMEOUT_MS, fetch },
    issuer,
  );
}
