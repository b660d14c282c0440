import { createHmac, hkdfSync } from 'node:crypto';
import { createSigningKey, type SigningKey } from '@ori/proof/signing';
import { decodeBase64, NOTE_TYPES, type NoteKey, noteKey } from './note.ts';

/** The keys that the log signs with, and those that hide version 1 proofs: all derived from one seed. */
export interface LogKeys {
  /** Signs checkpoints. */
  readonly log: SigningKey;
  /** Cosigns them with a time: every audit line that was there at that time is in the tree. */
  readonly complete: SigningKey;
  readonly logKey: NoteKey;
  readonly completeKey: NoteKey;
  /** The key that commitments of an intern's version 1 proofs are made with: for its daemon, where that accepts version 1. */
  v1KeyOf(internId: string): Uint8Array;
}

/** A seed is 32 bytes in base64. */
export function isSeed(text: string): boolean {
  return decodeBase64(text)?.length === 32;
}

export function createLogKeys(origin: string, seed: string): LogKeys {
  const bytes = Buffer.from(seed, 'base64');
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', bytes, '', `ori signing log: ${use}`, 32));
  const log = createSigningKey(bytes);
  const complete = createSigningKey(derive('complete'));
  const v1 = derive('version 1');
  return {
    log,
    complete,
    logKey: noteKey(origin, NOTE_TYPES.ed25519, log.publicKey),
    completeKey: noteKey(`${origin}/complete`, NOTE_TYPES.cosignatureV1, complete.publicKey),
    v1KeyOf: (internId) => createHmac('sha256', v1).update(internId).digest(),
  };
}
