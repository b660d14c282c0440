/** The timestamps of proofs, in Unix seconds, for which a key is valid: `notBefore <= timestamp < expiresAt`. */
export interface KeyInterval {
  notBefore?: number;
  expiresAt?: number;
}

/** An admitted public key, prepared for one engine. */
export interface VerificationKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Unix seconds, inclusive. */
  readonly notBefore?: number;
  /** Unix seconds, exclusive. */
  readonly expiresAt?: number;
  /** Whether `signature` is a valid signature of `input` by this key. False unless it has 64 bytes. Never throws. */
  verify(input: Uint8Array, signature: Uint8Array): boolean;
}

/** Whether the key is valid for a proof with this timestamp (Unix seconds). */
export function holdsTimestamp(key: KeyInterval, timestamp: number): boolean {
  return (
    (key.notBefore === undefined || key.notBefore <= timestamp) &&
    (key.expiresAt === undefined || timestamp < key.expiresAt)
  );
}
