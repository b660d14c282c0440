/** The signature algorithm of every version. */
export const ED25519 = {
  /** y with the sign of x in the top bit (RFC 8032, section 5.1.2). */
  publicKeyBytes: 32,
  /** RFC 8032, section 5.1.5. */
  seedBytes: 32,
  /** R (32 bytes), then S (32 bytes, little-endian). RFC 8032, section 5.1.6. */
  signatureBytes: 64,
  /** The canonical base64 of a signature, as a pattern. */
  signatureText: '[A-Za-z0-9+/]{85}[AQgw]==',
  /** A substring of every such text, for a cheap first check. */
  signatureMark: '==',
  /** The JWK members that identify the algorithm (RFC 8037, section 2). */
  jwk: { kty: 'OKP', crv: 'Ed25519' },
  /** The accepted values of a JWK's `alg`, which may also be absent. */
  algs: ['EdDSA', 'Ed25519'],
} as const;
