import type { Logger } from '@ori/runtime/log';
import type { IdentityConfig } from './config.ts';
import { createIdentities, type IdentitiesOptions } from './identities.ts';
import { IdentityError } from './identity-error.ts';
import { createIntrospection } from './introspect.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import type { IssuerSettings } from './issuers-file.ts';

/**
 * Time limits for one document of the issuer and for one introspection with its wait, in milliseconds: together below
 * one second.
 */
const DOCUMENT_TIMEOUT_MS = 400;
/**
 * The shortest time between two fetches of one document of the issuer, whether they succeed or not: a key that it added
 * is found as soon, and a flood of tokens under unknown keys costs it one request a second.
 */
const COOL_DOWN_SECONDS = 1;
/**
 * How long an issuer's keys are used beyond their 300 s while it does not answer: sessions outlast an outage that long, and
 * so does a key that the issuer withdraws during it.
 */
const KEYS_STALE_SECONDS = 300;
/** Concurrent introspections of an issuer; further ones wait. */
const INTROSPECTIONS_IN_FLIGHT_MAX = 64;
const INTROSPECTION_TIMEOUT_MS = 700;

/** The configured identification of callers. Contacts no issuer before it is asked something. */
export function openIdentity<ApiKey>(
  config: IdentityConfig,
  options: Pick<IdentitiesOptions<ApiKey>, 'apiKey' | 'now' | 'onLookup' | 'onVerified' | 'onBindingLost'> & {
    /** Default: the global `fetch`. */
    readonly fetch?: typeof fetch | undefined;
  },
) {
  const { fetch } = options;
  const opened = config.issuers.map((settings) => {
    const issuer = createIssuer({
      fetch,
      issuer: settings.issuer,
      coolDownSeconds: COOL_DOWN_SECONDS,
      keysStaleSeconds: KEYS_STALE_SECONDS,
      timeoutMs: DOCUMENT_TIMEOUT_MS,
    });
    return { settings, issuer, introspection: introspectionOf(settings, issuer, fetch) };
  });
  const { identify } = createIdentities({
    ...options,
    authorities: opened.map(({ settings, issuer, introspection }) => ({
      expected: settings,
      issuer,
      introspect: introspection?.introspect,
      tokenPrefix: settings.introspection?.tokenPrefix,
    })),
  });
  const issuers = opened.map(({ issuer }) => issuer);
  return {
    identify,
    /** @throws IdentityError `issuer_unavailable` if tokens cannot be verified now */
    // While one of several issuers is down, people of the others can still sign in.
    check: (): Promise<void> => Promise.any(issuers.map((issuer) => issuer.check())).catch(firstOf),
    /** Asks each issuer with introspection about a token that nobody has. @throws IdentityError */
    async askOnce(): Promise<void> {
      await Promise.all(opened.map(({ introspection }) => introspection?.check()));
    },
    /** Warns of each issuer whose introspection fails for good. Does not throw. */
    async tellMisconfigured(log: Pick<Logger, 'warn'>): Promise<void> {
      const asked = opened.map(({ settings: { issuer }, introspection }) =>
        introspection?.check().catch((err: unknown) => {
          if (err instanceof IdentityError && err.code === 'issuer_misconfigured')
            log.warn({ issuer, why: err.message }, 'the issuer cannot be asked about opaque tokens');
        }),
      );
      await Promise.all(asked);
    },
    /** Whether the issuer, by its metadata as last fetched, binds tokens to keys. */
    binds: (issuer: string): boolean =>
      opened.some((one) => one.settings.issuer === issuer && one.issuer.binds()),
    /** Seconds since an issuer's keys were last fetched, the longest of several; NaN before the first time. */
    keysAgeSeconds(): number {
      const ages = issuers.map((issuer) => issuer.keysAgeSeconds()).filter((age) => !Number.isNaN(age));
      return ages.length === 0 ? Number.NaN : Math.max(...ages);
    },
    close(): void {
      for (const issuer of issuers) issuer.close();
    },
  };
}

export type OpenIdentity<ApiKey> = ReturnType<typeof openIdentity<ApiKey>>;

function firstOf(error: unknown): never {
  throw error instanceof AggregateError ? error.errors[0] : error;
}

function introspectionOf(
  { introspection }: IssuerSettings,
  issuer: Issuer,
  fetch: typeof globalThis.fetch | undefined,
) {
  if (introspection === undefined) return undefined;
  return createIntrospection(
    {
      ...introspection,
      inFlightMax: INTROSPECTIONS_IN_FLIGHT_MAX,
      timeoutMs: INTROSPECTION_TIMEOUT_MS,
      fetch,
    },
    issuer,
  );
}
