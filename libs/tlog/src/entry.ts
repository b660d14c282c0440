import { PROOF_METHOD, type PresentedProof, signingInputV1, signingInputV2 } from '@ori/proof';
import { type Hash, isSameHash, sha256 } from './merkle.ts';
import { TlogError } from './tlog-error.ts';

/**
 * An entry of the signing log, 97 bytes: its version (1), then three commitments of 32 bytes each. A commitment that
 * the line has no proof for is zero.
 */
export interface Entry {
  /** SHA-256 of the v2 signing input. */
  readonly v2: Hash;
  /** SHA-256 of the v1 signing input followed by the 64 bytes of its signature. */
  readonly v1: Hash;
  /** SHA-256 of the audit line, without its newline. */
  readonly line: Hash;
}

export const ENTRY_BYTES = 97;
const VERSION = 1;
export const NO_COMMITMENT: Hash = new Uint8Array(32);

export function renderEntry({ v2, v1, line }: Entry): Uint8Array {
  return Buffer.concat([Uint8Array.of(VERSION), v2, v1, line]);
}

/** @throws TlogError `malformed` */
export function parseEntry(bytes: Uint8Array): Entry {
  if (bytes.length !== ENTRY_BYTES || bytes[0] !== VERSION) {
    throw new TlogError('malformed', 'not an entry of a signing log');
  }
  return { v2: bytes.subarray(1, 33), v1: bytes.subarray(33, 65), line: bytes.subarray(65) };
}

export function hasCommitment(entry: Entry, commitment: Hash): boolean {
  return isSameHash(entry.v2, commitment) || isSameHash(entry.v1, commitment);
}

/** The commitment of a v1 proof: its signing input alone could be guessed, its signature cannot. */
export function commitmentV1(signingInput: Uint8Array, signature: Uint8Array): Hash {
  return sha256(Buffer.concat([signingInput, signature]));
}

/** The commitment of a v2 proof: its nonce has 128 random bits. */
export function commitmentV2(signingInput: Uint8Array): Hash {
  return sha256(signingInput);
}

/** The commitment of a proof as it is presented, for the request that it is presented with. */
export function commitmentOf(
  { timestamp, user, v1, v2 }: PresentedProof,
  request: { readonly internId: string; readonly path: string; readonly bodySha256: string },
): Hash {
  const { internId, path, bodySha256 } = request;
  const named = { internId, timestamp, user, bodySha256 };
  return v2 === undefined
    ? commitmentV1(signingInputV1(named), v1.signature)
    : commitmentV2(signingInputV2({ ...named, nonce: v2.nonce, method: PROOF_METHOD, path }));
}

/** An audit line's entry, and whether the line is one that the signer writes for a proof. */
export interface LineEntry extends Entry {
  /** False for a line that a failed write left torn: it is committed to all the same, and no proof is. */
  readonly isProof: boolean;
}

/** The entry of an audit line, its newline taken off. Every line has one, torn ones too. */
export function entryOfLine(line: Uint8Array): LineEntry {
  const torn = { v2: NO_COMMITMENT, v1: NO_COMMITMENT, line: sha256(line), isProof: false };
  try {
    const facts: unknown = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString());
    if (!isAuditFacts(facts)) return torn;
    const { internId, timestamp, subject: user, bodySha256, method, path, nonce, proofV1Sha256 } = facts;
    const named = { internId, timestamp, user, bodySha256 };
    const v2 =
      nonce === undefined || path === undefined || method !== PROOF_METHOD
        ? NO_COMMITMENT
        : commitmentV2(signingInputV2({ ...named, nonce, method, path }));
    const v1 = proofV1Sha256 === undefined ? NO_COMMITMENT : Buffer.from(proofV1Sha256, 'hex');
    return v1.length === 32 ? { ...torn, v2, v1, isProof: true } : torn;
  } catch {
    return torn;
  }
}

interface AuditFacts {
  readonly internId: string;
  readonly timestamp: number;
  readonly subject: string;
  readonly bodySha256: string;
  readonly method?: string;
  readonly path?: string;
  readonly nonce?: string;
  readonly proofV1Sha256?: string;
}

/** The alphabets are judged by the signing input. */
function isAuditFacts(value: unknown): value is AuditFacts {
  return typeof value === 'object' && value !== null && 'event' in value && value.event === 'proof_issued';
}
