/** The accepted JWS algorithms of a DPoP proof and their keys: fast to verify, without parameters to get wrong. */
const KEYS = {
  ES256: { kty: 'EC', crv: 'P-256', coordinates: ['x', 'y'] },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', coordinates: ['x'] },
  Ed25519: { kty: 'OKP', crv: 'Ed25519', coordinates: ['x'] },
} as const;

export type DpopAlgorithm = keyof typeof KEYS;

/** For `dpop_signing_alg_values_supported` (RFC 9728, section 2) and `algs` (RFC 9449, section 7.1). */
export const DPOP_ALGORITHMS = Object.keys(KEYS) as readonly DpopAlgorithm[];

export function isDpopAlgorithm(alg: unknown): alg is DpopAlgorithm {
  return typeof alg === 'string' && Object.hasOwn(KEYS, alg);
}

/** The members of a public key that make up its RFC 7638 thumbprint. */
export type PublicJwk =
  | { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string }
  | { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string };

/** 32 bytes in base64url. */
const COORDINATE = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** The public key in a proof's header; undefined unless it fits the algorithm and has no private member. */
export function publicJwkOf(alg: DpopAlgorithm, jwk: unknown): PublicJwk | undefined {
  if (typeof jwk !== 'object' || jwk === null) return undefined;
  const members = jwk as Readonly<Record<string, unknown>>;
  if (PRIVATE_MEMBERS.some((name) => Object.hasOwn(members, name))) return undefined;
  const { kty, crv, coordinates } = KEYS[alg];
  if (members['kty'] !== kty || members['crv'] !== crv) return undefined;
  const values = coordinates.map((name) => [name, members[name]] as const);
  if (!values.every(([, value]) => typeof value === 'string' && COORDINATE.test(value))) return undefined;
  return { kty, crv, ...Object.fromEntries(values) } as PublicJwk;
}
