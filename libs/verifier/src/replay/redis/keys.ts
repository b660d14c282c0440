import { hash } from 'node:crypto';

/** The intern's spent proofs: a sorted set. The braces keep both keys in one slot of a Redis Cluster. */
export function spentKey(internId: string): string {
  return `ori:{${internId}}:spent`;
}

/** The signer's reservation of a nonce, which a redeeming daemon demands. */
export function issuedKey(internId: string, nonce: string): string {
  return `ori:{${internId}}:issued:${nonce}`;
}

/** What a reservation holds: the 32 bytes of SHA-256 over the version 2 signing input. */
export function issuedValue(signingInput: Uint8Array): Buffer {
  return hash('sha256', signingInput, 'buffer');
}
