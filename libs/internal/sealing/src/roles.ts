import { readFileSync } from 'node:fs';
import { ED25519 } from '@ori/proof/algorithms';
import { createSigningKey, type SigningKey } from '@ori/proof/signing';
import { ROLES } from '@ori/proof/statements';
import { ConfigError } from '@ori/runtime/config';
import { systemErrorCode } from '@ori/runtime/system-error-code';
import { z } from 'zod';
import { KmsError } from './key-wrapper.ts';
import { openKms } from './open-kms.ts';
import { readSecret, type WrappedFile } from './wrapped-file.ts';

const bytes32 = z.string().regex(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/);
export const publicJwk = z.object({
  kty: z.literal(ED25519.jwk.kty),
  crv: z.literal(ED25519.jwk.crv),
  x: bytes32,
});
const roleKey = publicJwk.extend({
  d: bytes32.optional(),
  /** The seed wrapped by a KMS, instead of `d`. */
  wrapped: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/)
    .optional(),
});

/** The public half: what daemons pin of a root, and what a root delegates to. */
export function publicJwkOf({ publicKey }: Pick<SigningKey, 'publicKey'>) {
  return { ...ED25519.jwk, x: Buffer.from(publicKey).toString('base64url') };
}

/** @throws ConfigError, which quotes nothing of the file; KmsError */
export async function openRoleKey(file: WrappedFile): Promise<SigningKey> {
  const { x, d, wrapped } = parse(
    file,
    readSecret(file),
    roleKey,
    'a private key of ori-admin root generate',
  );
  if ((d === undefined) === (wrapped === undefined)) throw problem(file, 'expected "d" or "wrapped"');
  const seed = d === undefined ? await unwrap(file, wrapped ?? '') : Buffer.from(d, 'base64url');
  try {
    const key = createSigningKey(seed);
    if (publicJwkOf(key).x !== x) throw problem(file, '"x" does not match the private key');
    return key;
  } finally {
    seed.fill(0);
  }
}

const time = z.int().min(0).max(999_999_999_999);
const delegation = z.strictObject({
  base: z.string(),
  role: z.enum(ROLES),
  x: bytes32,
  nbf: time,
  exp: time,
  signature: z.string().regex(/^[A-Za-z0-9+/]{85}[AQgw]==$/),
});

/** A delegation: one line of a file, or, without its base address, an entry of a key set. */
export type DelegationLine = z.infer<typeof delegation>;

/** The delegations of a file, in order. Only daemons can verify the signatures. @throws ConfigError */
export function readDelegations(file: Pick<WrappedFile, 'path' | 'variable'>): DelegationLine[] {
  const lines = readPublic(file).split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => parse(file, line, delegation, 'a delegation of ori-admin root delegate in each line'));
}

async function unwrap(file: WrappedFile, wrapped: string): Promise<Buffer> {
  const { kmsUrl, kmsTokenFile } = file;
  if (kmsUrl === undefined) throw problem(file, 'the key is wrapped by a KMS, and no KMS is configured');
  const seed = await (await openKms({ kmsUrl, kmsTokenFile })).unwrap(wrapped);
  if (seed.length !== 32) throw new KmsError('unusable', 'the KMS returned a key of the wrong size');
  return Buffer.from(seed);
}

export function readPublic(file: Pick<WrappedFile, 'path' | 'variable'>): string {
  try {
    return readFileSync(file.path, 'utf8');
  } catch (error) {
    throw problem(file, `cannot read ${JSON.stringify(file.path)} (${systemErrorCode(error)})`);
  }
}

export function parse<T>(
  file: Pick<WrappedFile, 'variable'>,
  text: string,
  shape: z.ZodType<T>,
  expected: string,
): T {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    throw problem(file, `expected ${expected}`);
  }
}

function problem({ variable }: Pick<WrappedFile, 'variable'>, text: string): ConfigError {
  return new ConfigError([`${variable}: ${text}`]);
}
