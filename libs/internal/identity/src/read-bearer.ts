import { hash } from 'node:crypto';
import { IdentityError, tokenRefused } from './identity-error.ts';

/**
 * RFC 6749, 10.10: the probability of guessing a token must be at most 2^-128, which takes 22 characters of this
 * alphabet.
 */
export const OPAQUE_CHARACTERS_MIN = 22;

/** What an issuer is asked about: a reference, or a token that only it can read. A longer one is a stranger's bytes. */
export const OPAQUE_CHARACTERS_MAX = 8192;

const SCHEME = /^(bearer|dpop) +/i;
const B64TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const API_KEY = /^sk-ori-v1-[0-9a-f]{64}$/;
/** Three parts, of which the first is an object in JSON: PASETO and others have three parts, too. */
const JWS_COMPACT = /^e[wy][A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*$/;

/** A well-formed credential of a known kind. Its validity and owner are not known yet. */
class Bearer {
  protected readonly stage = 'readBearer';
  readonly kind: 'api-key' | 'jwt' | 'opaque';
  readonly scheme: 'bearer' | 'dpop';
  readonly token: string;
  #digest: string | undefined;

  constructor(kind: Bearer['kind'], scheme: Bearer['scheme'], token: string) {
    this.kind = kind;
    this.scheme = scheme;
    this.token = token;
  }

  /** SHA-256 of the whole credential in base64url: the key for caching, and `ath` of a DPoP proof (RFC 9449, section 4.2). */
  digest(): string {
    this.#digest ??= hash('sha256', this.token, 'base64url');
    return this.#digest;
  }

  /** The same in hex, by which the store knows an API key. */
  digestHex(): string {
    return hash('sha256', this.token, 'hex');
  }
}

export type { Bearer };

/**
 * Reads the credential of the request and determines its kind by its form (RFC 6750, 2.1; RFC 9449, 7.1),
 * so that an impossible one causes no call to a dependency. Query and form parameters are ignored. The server limits the
 * length of headers.
 *
 * @param authorizations every `Authorization` value of the raw header list
 * @throws IdentityError `bearer_refused`
 */
export function readBearer(authorizations: readonly string[]): Bearer {
  const authorization = authorizations[0];
  if (authorization === undefined) throw refused('no Authorization header');
  if (authorizations.length > 1) throw refused('more than one Authorization header');
  const begun = SCHEME.exec(authorization);
  if (begun === null) throw refused('the scheme is neither Bearer nor DPoP');
  const token = authorization.slice(begun[0].length);
  return new Bearer(kindOf(token), begun[1]?.toLowerCase() === 'dpop' ? 'dpop' : 'bearer', token);
}

function kindOf(token: string): Bearer['kind'] {
  if (token.startsWith('sk-')) {
    if (!API_KEY.test(token)) throw refused('malformed API key');
    return 'api-key';
  }
  if (JWS_COMPACT.test(token)) return 'jwt';
  if (!B64TOKEN.test(token)) throw refused('credential outside its alphabet');
  if (token.length < OPAQUE_CHARACTERS_MIN) throw refused('too short to be a token');
  if (token.length > OPAQUE_CHARACTERS_MAX) throw tokenRefused('length');
  return 'opaque';
}

const refused = (message: string) => new IdentityError('bearer_refused', message);
