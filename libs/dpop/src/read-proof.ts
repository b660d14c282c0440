import { decodeJwt, decodeProtectedHeader } from 'jose';
import { type DpopAlgorithm, isDpopAlgorithm, type PublicJwk, publicJwkOf } from './algorithms.ts';
import { DpopError } from './dpop-error.ts';

/** The longest accepted proof, in characters. */
const PROOF_CHARACTERS_MAX = 4096;
const JTI_CHARACTERS_MAX = 128;

/** The decoded contents of a proof (RFC 9449, section 4.2). Neither claims nor signature are verified yet. */
export interface UnverifiedProof {
  readonly jwt: string;
  readonly alg: DpopAlgorithm;
  readonly jwk: PublicJwk;
  readonly jti: string;
  readonly htm: unknown;
  readonly htu: string;
  /** Seconds since the epoch, by the client's clock. */
  readonly iat: number;
  readonly exp: number | undefined;
  readonly nbf: number | undefined;
  readonly ath: unknown;
  readonly nonce: string | undefined;
}

/**
 * Reads the proof of a request.
 *
 * @param values every `DPoP` value of the raw header list
 * @throws DpopError `dpop_proof_refused`
 */
export function readProof(values: readonly string[]): UnverifiedProof {
  const [jwt, second] = values;
  if (jwt === undefined) throw refused('no DPoP header');
  if (second !== undefined) throw refused('more than one DPoP header');
  if (jwt.length > PROOF_CHARACTERS_MAX) throw refused('too long');
  const { typ, alg, jwk, crit, b64 } = decode(() => decodeProtectedHeader(jwt));
  if (typ !== 'dpop+jwt') throw refused('typ');
  if (!isDpopAlgorithm(alg)) throw refused('alg');
  if (crit !== undefined || b64 !== undefined) throw refused('crit');
  const publicJwk = publicJwkOf(alg, jwk);
  if (publicJwk === undefined) throw refused('jwk');

  const { jti, htm, htu, iat, exp, nbf, ath, nonce } = decode(() =>
    decodeJwt<Record<string, unknown>>(jwt),
  ) as {
    readonly [claim: string]: unknown;
  };
  if (typeof jti !== 'string' || jti === '' || jti.length > JTI_CHARACTERS_MAX) throw refused('jti');
  if (typeof htu !== 'string') throw refused('htu');
  if (!isTime(iat)) throw refused('iat');
  if (exp !== undefined && !isTime(exp)) throw refused('exp');
  if (nbf !== undefined && !isTime(nbf)) throw refused('nbf');
  if (nonce !== undefined && typeof nonce !== 'string') throw refused('nonce');
  return { jwt, alg, jwk: publicJwk, jti, htm, htu, iat, exp, nbf, ath, nonce };
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function decode<T>(read: () => T): T {
  try {
    return read();
  } catch {
    // The decoder's own error may quote what it read.
    throw refused('form');
  }
}

const refused = (what: string) => new DpopError('dpop_proof_refused', `DPoP proof refused for its ${what}`);
