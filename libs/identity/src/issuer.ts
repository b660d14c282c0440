import { createRemoteJson, type RemoteJson, type RemoteJsonOptions } from '@ori/remote-json';
import { type CryptoKey, createLocalJWKSet, errors, type JWSHeaderParameters } from 'jose';
import { z } from 'zod';
import { IdentityError } from './identity-error.ts';

/** How old the issuer's keys may become in use, in seconds: fresh, then stale while it cannot be reached. */
const KEYS_FRESH_SECONDS = 300;
const KEYS_STALE_SECONDS = 300;
/** Where things are changes with a release of the issuer, and is worth nothing to an attacker who does not own it. */
const METADATA_FRESH_SECONDS = 600;
const METADATA_STALE_SECONDS = 86_400;
const DOCUMENT_BYTES_MAX = 262_144;

export interface IssuerOptions {
  /** Exactly as in the `iss` of its tokens. */
  readonly issuer: string;
  readonly coolDownSeconds: number;
  readonly timeoutMs: number;
  /** Permits `http:` to other hosts than loopback: for closed test networks. */
  readonly allowPlainHttp: boolean;
  /** The global one unless given. */
  readonly fetch?: typeof fetch | undefined;
}

export interface IssuerMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly introspection_endpoint?: string | undefined;
}

/** The OpenID issuer, as far as its documents go. Nothing is fetched before it is first needed. */
export interface Issuer {
  /** @throws IdentityError `issuer_unavailable` */
  metadata(): Promise<IssuerMetadata>;
  /**
   * The key that a JWT's header names. An unknown one makes us ask again, at most once per cool-down.
   *
   * @returns undefined where the issuer has no such key
   * @throws IdentityError `issuer_unavailable` where that cannot be found out now
   */
  keyFor(header: JWSHeaderParameters): Promise<CryptoKey | undefined>;
  /** @throws IdentityError `issuer_unavailable` when tokens cannot be verified now */
  check(): Promise<void>;
  /** Seconds since the issuer's keys were last fetched; NaN before the first time. */
  keysAgeSeconds(): number;
  close(): void;
}

type KeySet = ReturnType<typeof createLocalJWKSet>;

export function createIssuer(options: IssuerOptions): Issuer {
  const { issuer, coolDownSeconds, timeoutMs, allowPlainHttp } = options;
  const limits = {
    ...{ coolDownSeconds, timeoutMs, allowPlainHttp, bytesMax: DOCUMENT_BYTES_MAX },
    fetch: options.fetch ?? fetch,
  };
  const discovery = watch({
    ...limits,
    url: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    parse: (value) => metadataOf(issuer).parse(value),
    freshSeconds: METADATA_FRESH_SECONDS,
    staleSeconds: METADATA_STALE_SECONDS,
  });
  let keySets: { readonly uri: string; readonly watched: Watched<KeySet> } | undefined;

  async function keySet(): Promise<Watched<KeySet>> {
    const { jwks_uri: uri } = await orUnavailable(discovery.json.get());
    if (keySets?.uri === uri) return keySets.watched;
    keySets?.watched.json.close();
    const watched = watch({
      ...limits,
      url: uri,
      parse: (value) => createLocalJWKSet(jwkSet.parse(value)),
      freshSeconds: KEYS_FRESH_SECONDS,
      staleSeconds: KEYS_STALE_SECONDS,
    });
    keySets = { uri, watched };
    return watched;
  }

  return {
    metadata: () => orUnavailable(discovery.json.get()),
    async keyFor(header) {
      const { json, isFailing } = await keySet();
      const known = await orUnavailable(json.get());
      const key = await choose(known, header);
      if (key !== undefined) return key;
      const asked = await orUnavailable(json.refresh());
      const newKey = asked === known ? undefined : await choose(asked, header);
      if (newKey === undefined && isFailing()) {
        throw new IdentityError(
          'issuer_unavailable',
          'the key is unknown and the issuer cannot be asked for it',
        );
      }
      return newKey;
    },
    async check() {
      await orUnavailable((await keySet()).json.get());
    },
    keysAgeSeconds: () => keySets?.watched.ageSeconds() ?? Number.NaN,
    close() {
      discovery.json.close();
      keySets?.watched.json.close();
    },
  };
}

/** Discovery (OpenID Connect Discovery 1.0, 4.3): the issuer exactly, and nothing of it on another origin. */
function metadataOf(issuer: string) {
  const { origin } = new URL(issuer);
  const ownUrl = z.url().refine((url) => new URL(url).origin === origin, 'not on the origin of the issuer');
  return z.object({
    issuer: z.literal(issuer),
    jwks_uri: ownUrl,
    introspection_endpoint: ownUrl.optional(),
  });
}

const jwkSet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });

async function choose(keys: KeySet, header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
  try {
    return await keys(header);
  } catch (error) {
    // No key of that id and algorithm, more than one, or one that cannot be used: none for this token.
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException)
      return undefined;
    throw error;
  }
}

interface Watched<T> {
  readonly json: RemoteJson<T>;
  /** Whether the last fetch brought no document. */
  isFailing(): boolean;
  /** Seconds since the last fetch that brought one; NaN before the first. */
  ageSeconds(): number;
}

function watch<T>(options: RemoteJsonOptions<T> & { readonly fetch: typeof fetch }): Watched<T> {
  let asked = 0;
  let understood = 0;
  let understoodAt = Number.NaN;
  const json = createRemoteJson({
    ...options,
    fetch: (...args) => {
      asked += 1;
      return options.fetch(...args);
    },
    parse(value) {
      const document = options.parse(value);
      understood = asked;
      understoodAt = performance.now();
      return document;
    },
  });
  return {
    json,
    isFailing: () => understood < asked,
    ageSeconds: () => (performance.now() - understoodAt) / 1000,
  };
}

function orUnavailable<T>(document: Promise<T>): Promise<T> {
  return document.catch((cause) => {
    throw new IdentityError('issuer_unavailable', 'the issuer cannot be asked', { cause });
  });
}
