/**
 * What differs between runtimes: verification and SHA-256. Both engines give the same verdict for every key that
 * `requireAdmissible` accepts and every signature that `isJudgeable` accepts.
 */
export interface Engine {
  /** Prepares an admitted key once; the returned function is called for each proof. */
  load(publicKey: Uint8Array): Verify;
  createSha256(): Sha256;
  /** SHA-256 of one buffer, in lower-case hex. */
  sha256Hex(bytes: Uint8Array): string;
}

/** Whether `signature`, 64 bytes, is over `input`, by pure Ed25519 (RFC 8032, section 5.1.7). */
type Verify = (input: Uint8Array, signature: Uint8Array) => boolean;

export interface Sha256 {
  update(chunk: Uint8Array): void;
  /** Ends the digest: 64 lower-case hex digits. */
  hex(): string;
}
