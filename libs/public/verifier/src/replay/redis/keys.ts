import { hash } from 'node:crypto';

/** The sorted set of an intern's spent proofs. The braces keep both keys in one slot of a Redis Cluster. */
export function spentKey(internId: string): string {
  return `ori:{${internId}}:spent`;
}

/** The signer's reservation of a nonce, which a redeeming daemon requires. */
export function issuedKey(internId: string, nonce: string): string {
  return `ori:{${internId}}:issued:${nonce}`;
}

/** The record of a call whose answer is kept: its person, the process that runs it, and how it ended. */
export function answerKey(internId: string, nonce: string): string {
  return `ori:{${internId}}:answer:${nonce}`;
}

/** The value of a reservation: the SHA-256 of the version 2 signing input, in base64url. */
export function issuedValue(signingInput: Uint8Array): string {
  return hash('sha256', signingInput, 'base64url');
}
