import { hash } from 'node:crypto';
import { IdentityError } from './identity-error.ts';

/** The longest credential that is looked at, in characters. */
export const BEARER_CHARACTERS_MAX = 8192;

/** RFC 6749, 10.10: guessing a token succeeds with at most 2^-128, which takes 22 characters of this alphabet. */
export const OPAQUE_CHARACTERS_MIN = 22;

const B64TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const API_KEY = /^sk-ori-v1-[0-9a-f]{64}$/;
const JWS_COMPACT = /^[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*$/;

/** A well-formed credential whose kind is known. Says nothing yet about whom it names, nor who may use it. */
class Bearer {
  protected readonly stage = 'readBearer';
  readonly kind: 'api-key' | 'jwt' | 'opaque';
  readonly scheme: 'bearer' | 'dpop';
  readonly token: string;

  constructor(kind: Bearer['kind'], scheme: Bearer['scheme'], token: string) {
    this.kind = kind;
    this.scheme = scheme;
    this.token = token;
  }

  /** SHA-256 of the whole credential: the name under which it is remembered and looked up. */
  digestHex(): string {
    return hash('sha256', this.token, 'hex');
  }
}

export type { Bearer };

/**
 * First stage. Takes the bearer credential out of the request and tells by its shape alone which kind it is, so that
 * nobody is asked about a credential that cannot be one: RFC 6750, 2.1, and RFC 9449, 7.1; a query or
 * form parameter is never looked at.
 *
 * @param authorizations every `Authorization` value of the raw header list
 * @throws IdentityError `bearer_refused`
 */
export function readBearer(authorizations: readonly string[]): Bearer {
  const [authorization, second] = authorizations;
  if (authorization === undefined) throw refused('no Authorization header');
  if (second !== undefined) throw refused('more than one Authorization header');
  const [before, scheme] = /^(bearer|dpop) +/i.exec(authorization) ?? [];
  if (before === undefined || scheme === undefined) throw refused('the scheme is neither Bearer nor DPoP');
  const token = authorization.slice(before.length);
  if (token.length > BEARER_CHARACTERS_MAX) throw refused('credential too long');
  return new Bearer(kindOf(token), scheme.toLowerCase() === 'dpop' ? 'dpop' : 'bearer', token);
}

function kindOf(token: string): Bearer['kind'] {
  if (token.startsWith('sk-')) {
    if (!API_KEY.test(token)) throw refused('not an API key of ours');
    return 'api-key';
  }
  if (JWS_COMPACT.test(token)) return 'jwt';
  if (!B64TOKEN.test(token)) throw refused('credential outside its alphabet');
  if (token.startsWith('eyJ')) throw refused('a JOSE object that is not a signed JWT');
  if (token.length < OPAQUE_CHARACTERS_MIN) throw refused('too short to be a token');
  return 'opaque';
}

const refused = (message: string) => new IdentityError('bearer_refused', message);
