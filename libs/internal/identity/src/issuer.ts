import { createRemoteJson, type RemoteJson } from '@ori/remote-json';
import type { CryptoKey, JWSHeaderParameters } from 'jose';
import { z } from 'zod';
import { isDpopAlgorithm } from './dpop/algorithms.ts';
import { IdentityError } from './identity-error.ts';
import { type KeySet, readKeySet } from './key-set.ts';

/** How long the issuer's keys are used before they are fetched again, in seconds. */
const KEYS_FRESH_SECONDS = 300;
/** Endpoints change only with a release of the issuer, and a stale document does not help an attacker. */
const METADATA_FRESH_SECONDS = 600;
const METADATA_STALE_SECONDS = 86_400;
const DOCUMENT_BYTES_MAX = 262_144;

/**
 * How long a fetch of a document may take: longer than a request waits for it. Some issuers make their keys when they are
 * first asked, and begin anew if the request is given up.
 */
const FETCH_MS_MAX = 5000;
/** A `Date` has whole seconds, and takes time to arrive. */
const CLOCK_NOISE_SECONDS = 1;

export interface IssuerOptions {
  /** Exactly as in the `iss` of its tokens. */
  readonly issuer: string;
  readonly coolDownSeconds: number;
  /** How much longer its keys are used while it cannot be reached. */
  readonly keysStaleSeconds: number;
  /** How long a request waits for a document, in milliseconds. */
  readonly timeoutMs: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export interface IssuerMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  /** As the issuer gives it; only an issuer with an introspection client needs one. */
  readonly introspection_endpoint?: unknown;
  /** As the issuer gives it: the algorithms of DPoP proofs (RFC 9449, section 5.1). */
  readonly dpop_signing_alg_values_supported?: unknown;
}

export function createIssuer(options: IssuerOptions) {
  const { issuer, coolDownSeconds, keysStaleSeconds, timeoutMs } = options;
  const unavailable = (cause: unknown): never => {
    throw new IdentityError('issuer_unavailable', 'the issuer does not answer', { cause });
  };
  const orUnavailable = <T>(document: Promise<T>): Promise<T> =>
    within(timeoutMs, document).catch(unavailable);
  /** An issuer that is slow is like one that is down: what it said last is used as long. */
  const get = async <T>(json: RemoteJson<T>): Promise<T> => {
    try {
      return await within(timeoutMs, json.get()).catch(json.held);
    } catch (cause) {
      return unavailable(cause);
    }
  };
  const limits = {
    coolDownSeconds,
    timeoutMs: Math.max(timeoutMs, FETCH_MS_MAX),
    bytesMax: DOCUMENT_BYTES_MAX,
    fetch: options.fetch ?? fetch,
  };
  let binds = false;
  let aheadSeconds = 0;
  /** A cache may have held the answer, but cannot make its date later. */
  function noteClock(headers: Headers): void {
    const dated = Date.parse(headers.get('date') ?? '') / 1000;
    const ahead = dated - Date.now() / 1000;
    if (!Number.isNaN(ahead)) aheadSeconds = ahead < CLOCK_NOISE_SECONDS ? 0 : Math.ceil(ahead);
  }
  const discovery = createRemoteJson({
    ...limits,
    url: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    parse(value, { headers }) {
      noteClock(headers);
      const metadata = metadataOf(issuer).parse(value);
      const { dpop_signing_alg_values_supported: algorithms } = metadata;
      binds = Array.isArray(algorithms) && algorithms.some(isDpopAlgorithm);
      return metadata;
    },
    freshSeconds: METADATA_FRESH_SECONDS,
    staleSeconds: METADATA_STALE_SECONDS,
  });
  let keySets: { readonly uri: string; readonly json: RemoteJson<KeySet> } | undefined;

  async function keySet(): Promise<RemoteJson<KeySet>> {
    const { jwks_uri: uri } = await get(discovery);
    if (keySets?.uri === uri) return keySets.json;
    keySets?.json.close();
    const json = createRemoteJson({
      ...limits,
      url: uri,
      parse(value, { headers }) {
        noteClock(headers);
        return readKeySet(value);
      },
      freshSeconds: KEYS_FRESH_SECONDS,
      staleSeconds: keysStaleSeconds,
    });
    keySets = { uri, json };
    return json;
  }

  return {
    /** @throws IdentityError `issuer_unavailable` */
    metadata: () => get(discovery),
    noteClock,
    /** How far its clock is ahead of ours by its last answer, in whole seconds; 0 if it is not, or did not date an answer. */
    aheadSeconds: () => aheadSeconds,
    /** Whether its metadata, as last fetched, offers to bind tokens to a key of a kind that is accepted here. */
    binds: () => binds,
    /**
     * The keys that the header of a JWT may mean, to be tried in turn: several if it has no `kid`, or if two keys share
     * one. If there is none, or the header names none and all have been tried, the keys are fetched again, at most once
     * per cool-down, and the new ones follow.
     *
     * @throws IdentityError `issuer_unavailable` if it cannot be determined now whether there are more
     */
    async *keysFor(header: JWSHeaderParameters): AsyncIterable<CryptoKey> {
      const json = await keySet();
      const known = await get(json);
      const keys = await known(header);
      yield* keys;
      if (keys.length > 0 && header.kid !== undefined) return;
      const asked = await orUnavailable(json.refresh());
      const newKeys = asked === known ? [] : await asked(header);
      yield* newKeys;
      if (newKeys.length === 0 && json.isFailing()) {
        throw new IdentityError(
          'issuer_unavailable',
          'the key is unknown, and the keys of the issuer cannot be fetched',
        );
      }
    },
    /** @throws IdentityError `issuer_unavailable` if tokens cannot be verified now */
    async check(): Promise<void> {
      await get(await keySet());
    },
    /** Seconds since the issuer's keys were last fetched; NaN before the first time. */
    keysAgeSeconds: () => keySets?.json.ageSeconds() ?? Number.NaN,
    close(): void {
      discovery.close();
      keySets?.json.close();
    },
  };
}

/** The documents of the OpenID issuer. Nothing is fetched before the first use. */
export type Issuer = ReturnType<typeof createIssuer>;

/**
 * Checks the discovery document (OpenID Connect Discovery 1.0, 4.3): it must name exactly the issuer, and keys on its
 * origin.
 */
function metadataOf(issuer: string) {
  const { origin } = new URL(issuer);
  return z.object({
    issuer: z.string().refine((named) => {
      if (named === issuer) return true;
      // Often one that differs only in a trailing slash.
      const both = [issuer, named].map((one) => JSON.stringify(one.slice(0, 200)));
      const explanation = `the issuer is set to ${both[0]}, and its discovery document names ${both[1]}: set exactly that`;
      throw Object.assign(new Error(explanation), { explanation });
    }),
    jwks_uri: z.url().refine((url) => new URL(url).origin === origin, 'not on the origin of the issuer'),
    introspection_endpoint: z.unknown().optional(),
    dpop_signing_alg_values_supported: z.unknown().optional(),
  });
}

/** Rejects if the document takes longer; its fetch goes on for those who ask later. */
async function within<T>(timeoutMs: number, document: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DOMException('no answer in time', 'TimeoutError')), timeoutMs);
  });
  try {
    return await Promise.race([document, late]);
  } finally {
    clearTimeout(timer);
  }
}
