import { decodeProtectedHeader } from 'jose';
import { isTime, isTimeOrAbsent } from '../read-claims.ts';
import { isDpopAlgorithm, publicJwkOf } from './algorithms.ts';
import { CONTENT_CLAIM } from './content.ts';
import { DpopError } from './dpop-error.ts';

/** The longest accepted proof, in characters. */
const PROOF_CHARACTERS_MAX = 4096;
const JTI_CHARACTERS_MAX = 128;

/**
 * Takes the only proof of a request.
 *
 * @param values every `DPoP` value of the raw header list
 * @throws DpopError `dpop_proof_refused`
 */
export function splitProof(values: readonly string[]) {
  const [jwt, second] = values;
  if (jwt === undefined) throw refused('no DPoP header');
  if (second !== undefined) throw refused('more than one DPoP header');
  if (jwt.length > PROOF_CHARACTERS_MAX) throw refused('too long');
  const [header, claims, signature, ...rest] = jwt.split('.', 4);
  if (!header || !claims || signature === undefined || rest.length > 0) throw refused('form');
  return { jwt, header, claims };
}

/** @throws DpopError `dpop_proof_refused` */
export function readHeader(header: string) {
  const { typ, alg, jwk, crit, b64 } = decode(() => decodeProtectedHeader(`${header}..`));
  if (typ !== 'dpop+jwt') throw refused('typ');
  if (!isDpopAlgorithm(alg)) throw refused('alg');
  if (crit !== undefined || b64 !== undefined) throw refused('crit');
  const publicJwk = publicJwkOf(alg, jwk);
  if (publicJwk === undefined) throw refused('jwk');
  return { alg, jwk: publicJwk };
}

/** The decoded header of a proof (RFC 9449, section 4.2). */
export type ProofHeader = ReturnType<typeof readHeader>;

/** @throws DpopError `dpop_proof_refused` */
export function readClaims(claims: string) {
  const {
    jti,
    htm,
    htu,
    iat,
    exp,
    nbf,
    ath,
    nonce,
    [CONTENT_CLAIM]: content,
  } = decode(() => decodeClaims(claims));
  if (typeof jti !== 'string' || jti === '' || jti.length > JTI_CHARACTERS_MAX) throw refused('jti');
  if (typeof htu !== 'string') throw refused('htu');
  if (!isTime(iat)) throw refused('iat');
  if (!isTimeOrAbsent(exp)) throw refused('exp');
  if (!isTimeOrAbsent(nbf)) throw refused('nbf');
  if (nonce !== undefined && typeof nonce !== 'string') throw refused('nonce');
  return { jti, htm, htu, iat, exp, nbf, ath, nonce, content };
}

/** The decoded claims of a proof (RFC 9449, section 4.2). They are not compared with the request yet. */
export type ProofClaims = ReturnType<typeof readClaims>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Without jose, whose `atob` takes several times as long: unlike the header, the claims are new with each request. */
function decodeClaims(claims: string): Readonly<Record<string, unknown>> {
  return JSON.parse(utf8.decode(Buffer.from(claims, 'base64url'))) ?? {};
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
