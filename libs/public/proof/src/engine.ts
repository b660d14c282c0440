/**
 * What differs between runtimes: Ed25519 verification and SHA-256. Both engines give the same verdict for every key that
 * `requireAdmissible` accepts and every signature that `isJudgeable` accepts.
 */
export interface Engine {
  /** Prepares an admitted key once; the returned function is called for each proof. */
  loadPublicKey(publicKey: Uint8Array): VerifyEd25519;
  createSha256(): Sha256;
  /** SHA-256 of one buffer, in lower-case hex. */
  sha256Hex(bytes: Uint8Array): string;
}

/** Pure Ed25519 (RFC 8032, section 5.1.7) of a 64-byte signature over `input`, under the key it was made for. */
type VerifyEd25519 = (input: Uint8Array, signature: Uint8Array) => boolean;

export interface Sha256 {
  update(chunk: Uint8Array): void;
  /** Ends the digest: 64 lower-case hex digits. */
  hex(): string;
}
