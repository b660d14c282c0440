import { randomBytes } from 'node:crypto';
import { encodeSignature } from '@ori/proof/signature';
import { createSigningKey, type SigningKey } from '@ori/proof/signing';
import { type Delegation, delegationInput } from '@ori/proof/statements';
import type { KeyWrapper } from './key-wrapper.ts';
import { type DelegationLine, parse, publicJwk, publicJwkOf, readPublic } from './roles.ts';
import type { WrappedFile } from './wrapped-file.ts';

/** A random key that is kept in memory only. */
export function createRoleKey(): SigningKey {
  return createSigningKey(randomBytes(32));
}

/** The text of a new key file, of mode 0600, with the seed wrapped if there is a KMS. @throws KmsError */
export async function generateRoleKey(kms?: KeyWrapper): Promise<{ text: string; publicJwk: object }> {
  const seed = randomBytes(32);
  try {
    const jwk = publicJwkOf(createSigningKey(seed));
    const secret = kms === undefined ? { d: seed.toString('base64url') } : { wrapped: await kms.wrap(seed) };
    return { text: `${JSON.stringify({ ...jwk, ...secret })}\n`, publicJwk: jwk };
  } finally {
    seed.fill(0);
  }
}

/** The public key in a file, which may also have the private one. @throws ConfigError */
export function readPublicKey(file: Pick<WrappedFile, 'path' | 'variable'>): Uint8Array {
  return Buffer.from(parse(file, readPublic(file), publicJwk, 'a public Ed25519 JWK').x, 'base64url');
}

export function makeDelegation(root: SigningKey, made: Delegation): DelegationLine {
  return {
    base: made.baseUrl,
    role: made.role,
    x: Buffer.from(made.publicKey).toString('base64url'),
    nbf: made.notBefore,
    exp: made.expiresAt,
    signature: encodeSignature(root.sign(delegationInput(made))),
  };
}
