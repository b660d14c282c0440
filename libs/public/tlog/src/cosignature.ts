import { verify } from 'node:crypto';
import { parseCheckpoint } from './checkpoint.ts';
import {
  ML_DSA_44_BYTES,
  NOTE_TYPES,
  type NoteKey,
  type NoteSignature,
  noteKey,
  verifyNoteSignature,
} from './note.ts';

/** A key that cosigns: Ed25519 or ML-DSA-44, distinguished by the length of the public key. */
export interface NoteSigner {
  readonly publicKey: Uint8Array;
  sign(input: Uint8Array): Uint8Array;
}

const TIME_BYTES = 8;
const ED25519_SIGNATURE_BYTES = 64;
const ML_DSA_44_SIGNATURE_BYTES = 2420;
const LABEL = Buffer.from('subtree/v1\n\0');

/** The key of a signer's cosignatures. */
export function cosignerKey(name: string, { publicKey }: NoteSigner): NoteKey {
  const type = publicKey.length === ML_DSA_44_BYTES ? NOTE_TYPES.mlDsa44 : NOTE_TYPES.cosignatureV1;
  return noteKey(name, type, publicKey);
}

/**
 * Cosigns a checkpoint's text (c2sp.org/tlog-cosignature): cosignature/v1 with Ed25519, subtree/v1 with ML-DSA-44.
 *
 * @param timestamp Unix seconds; 0 says nothing about when, or that the tree is the largest
 */
export function cosign(text: string, timestamp: number, name: string, signer: NoteSigner): NoteSignature {
  const key = cosignerKey(name, signer);
  const message = cosignedMessage(text, BigInt(timestamp), key);
  return { name, id: key.id, bytes: Buffer.concat([uint64(BigInt(timestamp)), signer.sign(message)]) };
}

/** The time of a good cosignature, Unix seconds; undefined for a bad one. */
export function verifyCosignature(text: string, { bytes }: NoteSignature, key: NoteKey): number | undefined {
  const length = key.type === NOTE_TYPES.mlDsa44 ? ML_DSA_44_SIGNATURE_BYTES : ED25519_SIGNATURE_BYTES;
  if (bytes.length !== TIME_BYTES + length) return undefined;
  const timestamp = Buffer.from(bytes).readBigUInt64BE(0);
  if (timestamp > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  const good = verify(null, cosignedMessage(text, timestamp, key), key.key, bytes.subarray(TIME_BYTES));
  return good ? Number(timestamp) : undefined;
}

/** Whether a log's signature over its checkpoint is good: a plain one, or a cosignature at any time. */
export function verifyLogSignature(text: string, signature: NoteSignature, key: NoteKey): boolean {
  return key.type === NOTE_TYPES.ed25519
    ? verifyNoteSignature(text, signature, key)
    : verifyCosignature(text, signature, key) !== undefined;
}

function cosignedMessage(text: string, timestamp: bigint, { type, name }: NoteKey): Buffer {
  if (type !== NOTE_TYPES.mlDsa44) return Buffer.from(`cosignature/v1\ntime ${timestamp}\n${text}`);
  const { origin, size, root } = parseCheckpoint(text);
  const from = uint64(0n);
  const to = uint64(BigInt(size));
  return Buffer.concat([LABEL, opaque(name), uint64(timestamp), opaque(origin), from, to, root]);
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

/** A vector of 1 to 255 bytes (RFC 8446, section 3.4). */
function opaque(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Uint8Array.of(bytes.length), bytes]);
}
