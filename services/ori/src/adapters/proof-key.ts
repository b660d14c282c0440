import { createHash, createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { CliError, isCliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { type Keeping, readKept, removeKept, writeKept } from './kept-secret.ts';
import { readPrivateFile, removePrivateFile } from './private-file.ts';
import type { SessionPlace } from './session-store.ts';

/** The private key that a session is bound to (RFC 9449): a JWK of P-256. */
export interface PrivateJwk {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly d: string;
}

/** Signs the DPoP proofs of one session, and remembers the server's last nonce. */
export interface ProofKey {
  readonly thumbprint: string;
  nonce: string | undefined;
  /**
   * A proof for one request (RFC 9449, section 4.2). It expires with its nonce.
   *
   * @param contentSha256 of the exact content of the request, in base64url
   */
  prove(method: string, url: URL, accessToken: string, contentSha256: string): string;
}

/** By thumbprint. Each call reads the key anew, and without its nonce would be refused first. */
const known = new Map<string, ProofKey>();

/** Uses node:crypto, because a library would take longer to load than most commands take to run. */
export function proofKeyOf(jwk: PrivateJwk): ProofKey {
  const { kty, crv, x, y } = jwk;
  // RFC 7638, section 3.2: these members in this order.
  const thumbprint = sha256(JSON.stringify({ crv, kty, x, y }));
  const before = known.get(thumbprint);
  if (before !== undefined) return before;
  const key: KeyObject = createPrivateKey({ key: { ...jwk }, format: 'jwk' });
  const header = encode({ alg: 'ES256', typ: 'dpop+jwt', jwk: { kty, crv, x, y } });
  const proofKey: ProofKey = {
    thumbprint,
    nonce: undefined,
    prove(method, url, accessToken, contentSha256) {
      const claims = {
        jti: randomUUID(),
        htm: method,
        htu: url.origin + url.pathname,
        iat: Math.floor(Date.now() / 1000),
        ath: sha256(accessToken),
        nonce: this.nonce,
        // As in the CAMARA Security and Interoperability Profile: what a server in between must not change.
        'x-camara:bh': contentSha256,
      };
      const input = `${header}.${encode(claims)}`;
      const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
      return `${input}.${signature.toString('base64url')}`;
    },
  };
  known.set(thumbprint, proofKey);
  return proofKey;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
export const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

const placeOf = ({ keyFile: file, interrupted }: SessionPlace) => ({ file, interrupted });

/** The stored key with this thumbprint; undefined if there is none. Throws as `readKept`, `session_file_damaged`. */
export async function readProofKey(place: SessionPlace, thumbprint: string): Promise<PrivateJwk | undefined> {
  const text = await readKept(placeOf(place));
  const keys = text === undefined ? [] : parseJson(text);
  if (!Array.isArray(keys)) throw new CliError('session_file_damaged', { file: place.keyFile });
  return keys.map(privateJwkOf).find((key) => key !== undefined && proofKeyOf(key).thumbprint === thumbprint);
}

/** Reads the key that was given with a token. Throws `token_key_unusable`, `session_file_exposed`. */
export async function readGivenKey(file: string): Promise<PrivateJwk> {
  const unusable = (why: string) => new CliError('token_key_unusable', { file, why });
  const text = await readPrivateFile(file, false).catch((error) => {
    throw isCliError(error, 'session_file_exposed') ? error : unusable('cannot be read');
  });
  if (text === undefined) throw unusable('does not exist');
  const key = privateJwkOf(parseJson(text));
  if (key === undefined) throw unusable('is not a JWK of P-256');
  return key;
}

/**
 * Stores the key of a session, apart from its tokens, before the session. That of the session `before` is kept too: others
 * have read that session, and it stays if the new one cannot be stored. Throws as `writeKept`.
 */
export async function writeProofKey(
  place: SessionPlace,
  jwk: PrivateJwk,
  keeping: Keeping,
  before: string | undefined,
): Promise<void> {
  const earlier = await readProofKey(place, before ?? '').catch(() => undefined);
  const keys = [jwk, earlier].filter((key) => key !== undefined);
  await writeKept(placeOf(place), `${JSON.stringify(keys)}\n`, keeping);
}

/** Also where the keychain that has it is gone. */
export async function removeProofKeys(place: SessionPlace): Promise<void> {
  await removeKept(placeOf(place)).catch(() => removePrivateFile(place.keyFile));
}

/** Undefined for anything else. */
function privateJwkOf(value: unknown): PrivateJwk | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { kty, crv, x, y, d } = value as Record<keyof PrivateJwk, string>;
  const jwk = { kty, crv, x, y, d } as PrivateJwk;
  try {
    return kty === 'EC' && crv === 'P-256' && proofKeyOf(jwk) ? jwk : undefined;
  } catch {
    return undefined;
  }
}
