import { engine } from '#engine';
import type { Sha256 } from './engine.ts';

/** SHA-256 of a body that arrives in pieces: feed every chunk as received, then take `hex()` once. */
export function createBodyDigest(): Sha256 {
  return engine.createSha256();
}

/** SHA-256 of a whole body, 64 lower-case hex digits. */
export function bodySha256(body: Uint8Array): string {
  return engine.sha256Hex(body);
}
