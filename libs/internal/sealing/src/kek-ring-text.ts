import { createSecretKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { type KekOwner, KekRing, KID, kidOf } from './kek-ring.ts';
import type { KeyWrapper } from './key-wrapper.ts';
import { SealingError } from './sealing-error.ts';

const KEKS_MAX = 16;
const KEK_BYTES = 32;
const OTHER_KEY = 'kid: does not match the key';
const EXPECTED_K = 'expected 256 bits in base64url (43 characters)';

const kekJwk = z.strictObject({
  kty: z.literal('oct', 'expected "oct"'),
  kid: z
    .string('expected a string')
    .regex(KID, 'expected one made by ori-admin kek, which names its service'),
  k: z
    .string('expected a string')
    .regex(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/, EXPECTED_K)
    .optional(),
  /** The key wrapped by a KMS, instead of `k`. */
  wrapped: z
    .string('expected a string')
    .regex(/^[\x21-\x7e]{1,4096}$/, 'expected 1 to 4096 printable characters')
    .optional(),
  alg: z.literal('A256GCMKW', 'expected "A256GCMKW", or no "alg"').optional(),
  use: z.literal('enc', 'expected "enc", or no "use"').optional(),
});

export type KekJwk = z.infer<typeof kekJwk>;

const kekRing = z.strictObject({
  keys: z
    .array(kekJwk, 'expected an array of keys')
    .min(1, 'expected at least one key')
    .max(KEKS_MAX, `expected at most ${KEKS_MAX} keys`),
});

function problemsOf(error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const place = z.core.toDotPath(issue.path) || 'ring';
    // The names of unknown members are omitted, because a misplaced secret must not be printed.
    return `${place}: ${issue.code === 'unrecognized_keys' ? 'has an unknown member' : issue.message}`;
  });
}

function invalid(problems: string[]): SealingError {
  return new SealingError('invalid_kek_ring', `invalid KEK ring: ${problems.join('; ')}`, problems);
}

/** Whether the keys of a ring are in plain or wrapped by a KMS. */
type Form = 'plain' | 'wrapped' | 'either';

/**
 * Reads a KEK ring: a JWK Set whose keys are `{"kty":"oct","kid":…,"k":<256 bits, base64url>}`. The `kid` is that of
 * {@link kidOf}: a key under the `kid` of another key is refused.
 *
 * @param owner the service that the ring is for; undefined accepts either
 * @throws SealingError `invalid_kek_ring` with all errors, none of which quotes the text
 */
export function parseKekRing(text: string, owner?: KekOwner): KekRing {
  const keys = readRing(text, owner, 'plain').map(({ kid, k = '' }): [string, KeyObject] => [
    kid,
    secretOf(Buffer.from(k, 'base64url')),
  ]);
  return new KekRing(new Map(keys));
}

/**
 * Reads a ring whose keys have `wrapped` in place of `k`, and unwraps them with the KMS, one after the other: an HSM answers one
 * call at a time, so of calls that are made together the last would time out, and again at each attempt. The `kid` shows
 * whether the result is the key that was wrapped.
 *
 * @throws SealingError as {@link parseKekRing}; KmsError
 */
export async function openKekRing(text: string, owner: KekOwner, kms: KeyWrapper): Promise<KekRing> {
  const keys = new Map<string, KeyObject>();
  for (const { kid, wrapped = '' } of readRing(text, owner, 'wrapped')) {
    const bytes = await kms.unwrap(wrapped);
    const isItsKey = bytes.length === KEK_BYTES && kid === kidOf(owner, bytes);
    keys.set(kid, secretOf(bytes));
    if (!isItsKey) throw invalid([`keys[${keys.size - 1}].${OTHER_KEY}`]);
  }
  return new KekRing(keys);
}

/** Its bytes are overwritten. */
function secretOf(bytes: Buffer): KeyObject {
  try {
    return createSecretKey(bytes);
  } finally {
    bytes.fill(0);
  }
}

/** Reads as much of such a ring as is possible without the KMS. @throws SealingError as {@link parseKekRing} */
export function checkWrappedRing(text: string, owner: KekOwner): void {
  readRing(text, owner, 'wrapped');
}

/** @throws SealingError as {@link parseKekRing} */
export function readRing(text: string, owner: KekOwner | undefined, form: Form): KekJwk[] {
  const keys = readKeys(text);
  const problems = keys.flatMap((key, index) => [
    ...(keys.findIndex(({ kid }) => kid === key.kid) < index
      ? [`keys[${index}].kid: expected a kid that no other key has`]
      : []),
    ...[...problemsOfForm(key, form), ...problemsOfOwner(key, owner)].map((text) => `keys[${index}].${text}`),
  ]);
  if (problems.length > 0) throw invalid(problems);
  return keys;
}

function problemsOfForm({ k, wrapped }: KekJwk, form: Form): string[] {
  if ((k === undefined) === (wrapped === undefined)) return [`k: ${EXPECTED_K}, or "wrapped" in its place`];
  if (wrapped !== undefined && form === 'plain')
    return ['wrapped: the key is wrapped by a KMS, and no KMS is configured'];
  if (k !== undefined && form === 'wrapped')
    return ['k: expected a key wrapped by the KMS, as ori-admin kek wrap makes'];
  return [];
}

function readKeys(text: string): KekJwk[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(['ring: expected JSON']);
  }
  const parsed = kekRing.safeParse(value);
  if (!parsed.success) throw invalid(problemsOf(parsed.error));
  return parsed.data.keys;
}

function problemsOfOwner({ kid, k }: KekJwk, owner: KekOwner | undefined): string[] {
  const named = kid.split('-', 1)[0] as KekOwner;
  const key = k === undefined ? undefined : Buffer.from(k, 'base64url');
  try {
    if (key !== undefined && kid !== kidOf(named, key)) return [OTHER_KEY];
    return owner !== undefined && named !== owner ? [`kid: belongs to the ring of the ${named} service`] : [];
  } finally {
    key?.fill(0);
  }
}
