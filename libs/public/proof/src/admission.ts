import { ed25519 } from '@noble/curves/ed25519.js';
import { ED25519 } from './algorithms.ts';
import { KeyError } from './errors.ts';
import { isCanonicalFieldElement, isSmallOrderEncoding } from './small-order.ts';

/**
 * Passes a public key under which every engine gives one verdict (KEY-SETS.md): 32 bytes, canonical, on the curve, not
 * of small order, torsion-free. Done when a key is loaded, never per proof: it costs as much as a slow verification.
 * @throws {KeyError} `key_length`, `key_not_canonical`, `key_not_on_curve`, `key_small_order`, `key_not_torsion_free`.
 */
export function requireAdmissible(publicKey: Uint8Array): void {
  if (publicKey.length !== ED25519.publicKeyBytes)
    throw new KeyError('key_length', 'an Ed25519 public key is 32 bytes');
  if (isSmallOrderEncoding(publicKey))
    throw new KeyError('key_small_order', 'the key is a point of small order');
  if (!isCanonicalFieldElement(publicKey)) {
    throw new KeyError('key_not_canonical', 'the key is not the canonical encoding of a point');
  }
  if (!decodePoint(publicKey).isTorsionFree()) {
    throw new KeyError('key_not_torsion_free', 'the key has a torsion component');
  }
}

function decodePoint(publicKey: Uint8Array) {
  try {
    return ed25519.Point.fromBytes(publicKey);
  } catch (cause) {
    throw new KeyError('key_not_on_curve', 'the key is not a point of the curve', { cause });
  }
}
