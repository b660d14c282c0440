import { createRemoteJson, type RemoteJson } from '@ori/remote-json';
import { type CryptoKey, createLocalJWKSet, errors, type JWSHeaderParameters } from 'jose';
import { z } from 'zod';
import { IdentityError } from './identity-error.ts';

/** How long the issuer's keys are used before they are fetched again, in seconds. */
const KEYS_FRESH_SECONDS = 300;
/** Endpoints change only with a release of the issuer, and a stale document does not help an attacker. */
const METADATA_FRESH_SECONDS = 600;
const METADATA_STALE_SECONDS = 86_400;
const DOCUMENT_BYTES_MAX = 262_144;

export interface IssuerOptions {
  /** Exactly as in the `iss` of its tokens. */
  readonly issuer: string;
  readonly coolDownSeconds: number;
  /** How much longer its keys are used while it cannot be reached. */
  readonly keysStaleSeconds: number;
  readonly timeoutMs: number;
  /** Permits `http:` to hosts other than loopback, for isolated test networks. */
  readonly allowPlainHttp: boolean;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export interface IssuerMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly introspection_endpoint?: string | undefined;
}

/** The documents of the OpenID issuer. Nothing is fetched before the first use. */
export interface Issuer {
  /** @throws IdentityError `issuer_unavailable` */
  metadata(): Promise<IssuerMetadata>;
  /**
   * The key that the header of a JWT names. An unknown one triggers another fetch, at most once per cool-down.
   *
   * @returns undefined if the issuer has no such key
   * @throws IdentityError `issuer_unavailable` if that cannot be determined now
   */
  keyFor(header: JWSHeaderParameters): Promise<CryptoKey | undefined>;
  /** @throws IdentityError `issuer_unavailable` if tokens cannot be verified now */
  check(): Promise<void>;
  /** Seconds since the issuer's keys were last fetched; NaN before the first time. */
  keysAgeSeconds(): number;
  close(): void;
}

type KeySet = ReturnType<typeof createLocalJWKSet>;

export function createIssuer(options: IssuerOptions): Issuer {
  const { issuer, coolDownSeconds, keysStaleSeconds, timeoutMs, allowPlainHttp } = options;
  const limits = {
    coolDownSeconds,
    timeoutMs,
    allowPlainHttp,
    bytesMax: DOCUMENT_BYTES_MAX,
    fetch: options.fetch ?? fetch,
  };
  const discovery = createRemoteJson({
    ...limits,
    url: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    parse: (value) => metadataOf(issuer).parse(value),
    freshSeconds: METADATA_FRESH_SECONDS,
    staleSeconds: METADATA_STALE_SECONDS,
  });
  let keySets: { readonly uri: string; readonly json: RemoteJson<KeySet> } | undefined;

  async function keySet(): Promise<RemoteJson<KeySet>> {
    const { jwks_uri: uri } = await orUnavailable(discovery.get());
    if (keySets?.uri === uri) return keySets.json;
    keySets?.json.close();
    const json = createRemoteJson({
      ...limits,
      url: uri,
      parse: (value) => createLocalJWKSet(jwkSet.parse(value)),
      freshSeconds: KEYS_FRESH_SECONDS,
      staleSeconds: keysStaleSeconds,
    });
    keySets = { uri, json };
    return json;
  }

  return {
    metadata: () => orUnavailable(discovery.get()),
    async keyFor(header) {
      const json = await keySet();
      const known = await orUnavailable(json.get());
      const key = await choose(known, header);
      if (key !== undefined) return key;
      const asked = await orUnavailable(json.refresh());
      const newKey = asked === known ? undefined : await choose(asked, header);
      if (newKey === undefined && json.isFailing()) {
        throw new IdentityError(
          'issuer_unavailable',
          'the key is unknown, and the keys of the issuer cannot be fetched',
        );
      }
      return newKey;
    },
    async check() {
      await orUnavailable((await keySet()).get());
    },
    keysAgeSeconds: () => keySets?.json.ageSeconds() ?? Number.NaN,
    close() {
      discovery.close();
      keySets?.json.close();
    },
  };
}

/** The discovery document names another issuer, often one that differs only in a trailing slash. */
class OtherIssuer extends Error {
  readonly explanation: string;

  constructor(expected: string, named: string) {
    const both = [expected, named].map((issuer) => JSON.stringify(issuer.slice(0, 200)));
    const explanation = `the issuer is set to ${both[0]}, and its discovery document names ${both[1]}: set exactly that`;
    super(explanation);
    this.name = 'OtherIssuer';
    this.explanation = explanation;
  }
}

/**
 * Checks the discovery document (OpenID Connect Discovery 1.0, 4.3): it must name exactly the issuer, and no endpoint
 * on another origin.
 */
function metadataOf(issuer: string) {
  const { origin } = new URL(issuer);
  const ownUrl = z.url().refine((url) => new URL(url).origin === origin, 'not on the origin of the issuer');
  return z.object({
    issuer: z.string().refine((named) => {
      if (named !== issuer) throw new OtherIssuer(issuer, named);
      return true;
    }),
    jwks_uri: ownUrl,
    introspection_endpoint: ownUrl.optional(),
  });
}

const jwkSet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });

async function choose(keys: KeySet, header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
  try {
    return await keys(header);
  } catch (error) {
    // No key with that id and algorithm, more than one, or an unusable one: there is no key for this token.
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException)
      return undefined;
    throw error;
  }
}

function orUnavailable<T>(document: Promise<T>): Promise<T> {
  return document.catch((cause) => {
    throw new IdentityError('issuer_unavailable', 'the issuer does not answer', { cause });
  });
}
