import { createHmac } from 'node:crypto';
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
  /** HMAC-SHA256, under a key of the intern, of the SHA-256 of the v1 signing input. */
  readonly v1: Hash;
  /** SHA-256 of the audit line, without its newline. */
  readonly line: Hash;
}

export const ENTRY_BYTES = 97;
const VERSION = 1;
export const NO_COMMITMENT: Hash = new Uint8Array(32);

export function renderEntry({ v2, v1, line }: Entry): Uint8Array {
  // Not Buffer.concat: its result is a slice of an 8 KiB slab, which whoever keeps the entry would keep too.
  const bytes = new Uint8Array(ENTRY_BYTES);
  bytes[0] = VERSION;
  bytes.set(v2, 1);
  bytes.set(v1, 33);
  bytes.set(line, 65);
  return bytes;
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

/**
 * The commitment of a v1 proof. Nothing in it is random, so its hash alone could be guessed: the key keeps it from all but
 * the log and the intern's daemon.
 */
export function commitmentV1(signingInput: Uint8Array, key: Uint8Array): Hash {
  return createHmac('sha256', key).update(sha256(signingInput)).digest();
}

/** The commitment of a v2 proof: its nonce has 128 random bits. */
export function commitmentV2(signingInput: Uint8Array): Hash {
  return sha256(signingInput);
}

/** The commitment of a v2 proof as it is presented, for the request that it is presented with; undefined for v1. */
export function commitmentOf(
  { timestamp, user, v2 }: PresentedProof,
  request: { readonly internId: string; readonly path: string; readonly bodySha256: string },
): Hash | undefined {
  if (v2 === undefined) return undefined;
  return commitmentV2(signingInputV2({ timestamp, user, nonce: v2.nonce, method: PROOF_METHOD, ...request }));
}

/** An audit line's entry, and whether the line is one that the signer writes for a proof. */
export interface LineEntry extends Entry {
  /** False for a line that a failed write left torn: the line is committed to, but no proof. */
  readonly isProof: boolean;
}

/**
 * The entry of an audit line, its newline taken off. Every line has one, torn ones too.
 *
 * @param v1KeyOf the key of an intern; without it there is no commitment of version 1
 */
export function entryOfLine(line: Uint8Array, v1KeyOf?: (internId: string) => Uint8Array): LineEntry {
  const torn = { v2: NO_COMMITMENT, v1: NO_COMMITMENT, line: sha256(line), isProof: false };
  try {
    const facts: unknown = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString());
    if (!isAuditFacts(facts)) return torn;
    const { internId, timestamp, subject: user, bodySha256, method, path, nonce } = facts;
    const named = { internId, timestamp, user, bodySha256 };
    const v2 =
      nonce === undefined || path === undefined || method !== PROOF_METHOD
        ? NO_COMMITMENT
        : commitmentV2(signingInputV2({ ...named, nonce, method, path }));
    const v1 = v1KeyOf === undefined ? NO_COMMITMENT : commitmentV1(signingInputV1(named), v1KeyOf(internId));
    return { ...torn, v2, v1, isProof: true };
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
}

/** The signing input checks the alphabets. */
function isAuditFacts(value: unknown): value is AuditFacts {
  return typeof value === 'object' && value !== null && 'event' in value && value.event === 'proof_issued';
}
