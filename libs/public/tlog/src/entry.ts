import { createHmac } from 'node:crypto';
import {
  ED25519,
  IDENTIFYING_VERSION,
  isInternId,
  newestSignature,
  PROOF_METHOD,
  type PresentedProof,
  type ProofFields,
  signingInput,
} from '@ori/proof';
import { type Hash, isSameHash, sha256 } from './merkle.ts';
import { TlogError } from './tlog-error.ts';

/** An entry of the signing log, 97 bytes: its kind (1 or 2), then three values of 32 bytes each. */
export type Entry = ProofEntry | KeyEntry;

/** Kind 1: a line of a proof. A commitment that the line has no proof for is zero. */
export interface ProofEntry {
  readonly kind: 'proof';
  /** SHA-256 of the v2 signing input. */
  readonly v2: Hash;
  /** HMAC-SHA256, under a key of the intern, of the SHA-256 of the v1 signing input. */
  readonly v1: Hash;
  /** SHA-256 of the audit line, without its newline. */
  readonly line: Hash;
}

/** Kind 2: a line of a key that was published. */
export interface KeyEntry {
  readonly kind: 'key';
  /** The Ed25519 public key. */
  readonly publicKey: Uint8Array;
  /** The intern that owns the key: `commitmentOfIntern`. */
  readonly intern: Hash;
  /** SHA-256 of the audit line, without its newline. */
  readonly line: Hash;
}

export const ENTRY_BYTES = 97;
const KINDS = { proof: 1, key: 2 } as const;
export const NO_COMMITMENT: Hash = new Uint8Array(32);

export function renderEntry(entry: Entry): Uint8Array {
  // Not Buffer.concat: its result is a slice of an 8 KiB slab, which would stay in memory as long as the entry.
  const bytes = new Uint8Array(ENTRY_BYTES);
  const [first, second] = entry.kind === 'proof' ? [entry.v2, entry.v1] : [entry.publicKey, entry.intern];
  bytes[0] = KINDS[entry.kind];
  bytes.set(first, 1);
  bytes.set(second, 33);
  bytes.set(entry.line, 65);
  return bytes;
}

/** @throws TlogError `malformed` */
export function parseEntry(bytes: Uint8Array): Entry {
  const [first, second, line] = [bytes.subarray(1, 33), bytes.subarray(33, 65), bytes.subarray(65)];
  if (bytes.length === ENTRY_BYTES && bytes[0] === KINDS.proof)
    return { kind: 'proof', v2: first, v1: second, line };
  if (bytes.length === ENTRY_BYTES && bytes[0] === KINDS.key)
    return { kind: 'key', publicKey: first, intern: second, line };
  throw new TlogError('malformed', 'not an entry of a signing log');
}

/** The two commitments by which an entry is found; `NO_COMMITMENT` in place of one that it lacks. */
export function commitmentsIn(entry: Entry): readonly [Hash, Hash] {
  return entry.kind === 'proof' ? [entry.v1, entry.v2] : [NO_COMMITMENT, NO_COMMITMENT];
}

/** Whether the entry is of the proof with this commitment. */
export function hasCommitment(entry: Entry, commitment: Hash): boolean {
  return entry.kind === 'proof' && commitmentsIn(entry).some((own) => isSameHash(own, commitment));
}

/** Identifies an intern in the entries of its keys, to anyone who knows its id. */
export function commitmentOfIntern(internId: string): Hash {
  return sha256(Buffer.from(`ori signing log: keys of ${internId}`));
}

/**
 * The commitment of a v1 proof. Nothing in it is random, so a plain hash could be guessed. The key hides it from everyone but
 * the log and the intern's daemon.
 */
export function commitmentV1(signingInput: Uint8Array, key: Uint8Array): Hash {
  return createHmac('sha256', key).update(sha256(signingInput)).digest();
}

/** The commitment of a v2 proof: its nonce has 128 random bits. */
export function commitmentV2(signingInput: Uint8Array): Hash {
  return sha256(signingInput);
}

/** The commitment of a single-use proof as it is presented, for the request that it is presented with; undefined for v1. */
export function commitmentOf(
  presented: PresentedProof,
  request: { readonly internId: string; readonly path: string; readonly bodySha256: string },
): Hash | undefined {
  const { timestamp, user } = presented;
  const { nonce } = newestSignature(presented);
  if (nonce === undefined) return undefined;
  return identity({ timestamp, user, nonce, method: PROOF_METHOD, ...request });
}

const identity = (fields: ProofFields): Hash => commitmentV2(signingInput(IDENTIFYING_VERSION, fields));

/** An audit line's entry, and what the signer wrote the line for. */
export type LineEntry = Entry & {
  /** `nothing`: a failed write left the line torn. It is committed to, without a proof or a key. */
  readonly of: 'proof' | 'key' | 'nothing';
};

/**
 * The entry of an audit line without its newline. Every line has one, even a torn one.
 *
 * @param v1KeyOf the key of an intern; without it there is no commitment of version 1
 */
export function entryOfLine(line: Uint8Array, v1KeyOf?: (internId: string) => Uint8Array): LineEntry {
  const digest = sha256(line);
  try {
    const text = Buffer.from(line.buffer, line.byteOffset, line.length).toString();
    const facts = JSON.parse(text) as AuditFacts | KeyFacts;
    if (facts.event === 'proof_issued') return { ...entryOfProof(facts, v1KeyOf), line: digest, of: 'proof' };
    if (facts.event === 'key_published') return { ...entryOfKey(facts), line: digest, of: 'key' };
  } catch {
    // Torn within a value, no object, or without the facts of a proof or a key.
  }
  return { kind: 'proof', v2: NO_COMMITMENT, v1: NO_COMMITMENT, line: digest, of: 'nothing' };
}

/** @throws TypeError as `signingInput`, which checks the alphabets */
function entryOfProof(
  facts: AuditFacts,
  v1KeyOf?: (internId: string) => Uint8Array,
): Omit<ProofEntry, 'line'> {
  const { internId, timestamp, subject: user, bodySha256, method, path, nonce } = facts;
  const named = { internId, timestamp, user, bodySha256 };
  const v2 =
    nonce === undefined || path === undefined || method !== PROOF_METHOD
      ? NO_COMMITMENT
      : identity({ ...named, nonce, method, path });
  const v1 = v1KeyOf === undefined ? NO_COMMITMENT : commitmentV1(signingInput(1, named), v1KeyOf(internId));
  return { kind: 'proof', v2, v1 };
}

/** @throws TlogError `malformed` */
function entryOfKey({ internId, x }: KeyFacts): Omit<KeyEntry, 'line'> {
  const publicKey = Buffer.from(x, 'base64url');
  if (publicKey.length !== ED25519.publicKeyBytes || !isInternId(internId))
    throw new TlogError('malformed', 'not the line of a key');
  return { kind: 'key', publicKey, intern: commitmentOfIntern(internId) };
}

interface AuditFacts {
  readonly event: 'proof_issued';
  readonly internId: string;
  readonly timestamp: number;
  readonly subject: string;
  readonly bodySha256: string;
  readonly method?: string;
  readonly path?: string;
  readonly nonce?: string;
}

interface KeyFacts {
  readonly event: 'key_published';
  readonly internId: string;
  /** 32 bytes in base64url. */
  readonly x: string;
}
