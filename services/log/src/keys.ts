import { hkdfSync } from 'node:crypto';
import { createSigningKey, type SigningKey } from '@ori/proof/signing';
import { decodeBase64, NOTE_TYPES, type NoteKey, noteKey } from '@ori/tlog/note';

/** What the log signs with. Both halves come from one seed. */
export interface LogKeys {
  /** Signs checkpoints. */
  readonly log: SigningKey;
  /** Cosigns them with a time: every audit line that was there at that time is in the tree. */
  readonly complete: SigningKey;
  readonly logKey: NoteKey;
  readonly completeKey: NoteKey;
}

/** A seed is 32 bytes in base64. */
export function isSeed(text: string): boolean {
  return decodeBase64(text)?.length === 32;
}

export function createLogKeys(origin: string, seed: string): LogKeys {
  const bytes = Buffer.from(seed, 'base64');
  const derived = Buffer.from(hkdfSync('sha256', bytes, '', 'ori signing log: complete', 32));
  const log = createSigningKey(bytes);
  const complete = createSigningKey(derived);
  return {
    log,
    complete,
    logKey: noteKey(origin, NOTE_TYPES.ed25519, log.publicKey),
    completeKey: noteKey(`${origin}/complete`, NOTE_TYPES.cosignatureV1, complete.publicKey),
  };
}
