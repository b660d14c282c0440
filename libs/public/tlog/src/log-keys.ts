import { createHmac, hkdfSync } from 'node:crypto';
import { createSigningKey } from '@ori/proof/signing';
import { cosignerKey } from './cosignature.ts';
import { createMlDsaKey } from './ml-dsa.ts';
import { decodeBase64, NOTE_TYPES, noteKey, renderVkey } from './note.ts';

/** A seed is 32 bytes in base64. */
export function isSeed(text: string): boolean {
  return decodeBase64(text)?.length === 32;
}

/** The keys that the log signs with, and those that hide version 1 proofs: all derived from one seed. */
export function createLogKeys(origin: string, seed: string) {
  const bytes = Buffer.from(seed, 'base64');
  const derive = (use: string) => deriveSeed(bytes, `ori signing log: ${use}`);
  const log = createSigningKey(bytes);
  const logMlDsa = createMlDsaKey(derive('ML-DSA-44'));
  const complete = createSigningKey(derive('complete'));
  const completeMlDsa = createMlDsaKey(derive('complete, ML-DSA-44'));
  const v1 = derive('version 1');
  return {
    /** Signs checkpoints. */
    log,
    /** Signs them too, so that they remain trustworthy if Ed25519 is broken. */
    logMlDsa,
    /** These cosign them with a time: every audit line that was there at that time is in the tree. */
    complete: [complete, completeMlDsa],
    logKey: noteKey(origin, NOTE_TYPES.ed25519, log.publicKey),
    logMlDsaKey: cosignerKey(origin, logMlDsa),
    completeKey: cosignerKey(`${origin}/complete`, complete),
    completeMlDsaKey: cosignerKey(`${origin}/complete`, completeMlDsa),
    /** The key that commitments of an intern's version 1 proofs are made with: for its daemon, where that accepts version 1. */
    v1KeyOf: (internId: string): Uint8Array => createHmac('sha256', v1).update(internId).digest(),
  };
}

export type LogKeys = ReturnType<typeof createLogKeys>;

/** The verifier keys of a log, as in a policy. */
export function renderVkeys(keys: LogKeys) {
  return {
    log: renderVkey(keys.logKey),
    logMlDsa: renderVkey(keys.logMlDsaKey),
    complete: renderVkey(keys.completeKey),
    completeMlDsa: renderVkey(keys.completeMlDsaKey),
  };
}

/**
 * Derives another seed. An attacker who computes an Ed25519 private key from its public key learns only a SHA-512 of the
 * first seed, and so neither that seed nor one derived from it.
 */
function deriveSeed(seed: Uint8Array, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', seed, '', use, 32));
}
