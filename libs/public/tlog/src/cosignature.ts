import { verify } from 'node:crypto';
import type { SigningKey } from '@ori/proof/signing';
import { NOTE_TYPES, type NoteKey, type NoteSignature, noteKey } from './note.ts';

/** Bytes of a timestamp and an Ed25519 signature. */
const COSIGNATURE_BYTES = 72;

/**
 * Cosigns a checkpoint's text with Ed25519 (c2sp.org/tlog-cosignature, cosignature/v1).
 *
 * @param timestamp Unix seconds
 */
export function cosign(text: string, timestamp: number, name: string, key: SigningKey): NoteSignature {
  const { id } = noteKey(name, NOTE_TYPES.cosignatureV1, key.publicKey);
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(timestamp));
  return { name, id, bytes: Buffer.concat([time, key.sign(cosignedMessage(text, String(timestamp)))]) };
}

/** The time of a good cosignature, Unix seconds; undefined for a bad one. */
export function verifyCosignature(
  text: string,
  { bytes }: NoteSignature,
  { key }: NoteKey,
): number | undefined {
  if (bytes.length !== COSIGNATURE_BYTES) return undefined;
  const timestamp = Buffer.from(bytes).readBigUInt64BE(0);
  if (timestamp > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  const good = verify(null, cosignedMessage(text, String(timestamp)), key, bytes.subarray(8));
  return good ? Number(timestamp) : undefined;
}

function cosignedMessage(text: string, timestamp: string): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${timestamp}\n${text}`);
}
