import { requireAdmissible } from './admission.ts';
import { ED25519 } from './algorithms.ts';
import { base64url } from './base64.ts';
import type { Engine } from './engine.ts';
import { KeyError } from './errors.ts';
import { bytesFromHex, isJudgeable } from './small-order.ts';
import type { KeyInterval, VerificationKey } from './verification-key.ts';

/**
 * Admits a key and loads it into `engine`, once. Engines disagree about keys and signatures that `requireAdmissible` and
 * `isJudgeable` do not pass. Throws KeyError like `requireAdmissible`, and `key_interval`.
 */
export function createVerificationKey(
  engine: Engine,
  bytes: Uint8Array,
  interval: KeyInterval,
): VerificationKey {
  requireAdmissible(bytes);
  requireInterval(interval);
  const publicKey = Uint8Array.from(bytes);
  const verify = engine.load(publicKey);
  return Object.freeze({
    kid: thumbprintWith(engine, publicKey),
    publicKey,
    ...(interval.notBefore === undefined ? {} : { notBefore: interval.notBefore }),
    ...(interval.expiresAt === undefined ? {} : { expiresAt: interval.expiresAt }),
    verify: (input: Uint8Array, signature: Uint8Array) => isJudgeable(signature) && verify(input, signature),
  });
}

/** RFC 7638, section 3, with the required members of an OKP key from RFC 8037, section 2. */
export function thumbprintWith(engine: Engine, publicKey: Uint8Array): string {
  const { crv, kty } = ED25519.jwk;
  const hex = engine.sha256Hex(
    new TextEncoder().encode(JSON.stringify({ crv, kty, x: base64url.encode(publicKey) })),
  );
  return base64url.encode(bytesFromHex(hex));
}

function requireInterval({ notBefore, expiresAt }: KeyInterval): void {
  for (const bound of [notBefore, expiresAt]) {
    if (bound !== undefined && !(Number.isFinite(bound) && bound >= 0)) {
      throw new KeyError('key_interval', 'a bound of the interval is not a time in Unix seconds');
    }
  }
  if (notBefore !== undefined && expiresAt !== undefined && expiresAt <= notBefore) {
    throw new KeyError('key_interval', 'the interval is empty');
  }
}
