import { createSecretKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { type KekOwner, KekRing, kidOf, ownerOf } from './kek-ring.ts';
import type { KeyWrapper } from './key-wrapper.ts';
import { SealingError } from './sealing-error.ts';

const KEKS_MAX = 16;
const EXPECTED_K = 'expected 256 bits in base64url (43 characters)';
const SHARED = 'names no service, so another service may have the key too: give each service its own ring';

const kekJwk = z.strictObject({
  kty: z.literal('oct', 'expected "oct"'),
  kid: z.string('expected a string').regex(/^[A-Za-z0-9._-]{1,64}$/, 'expected 1 to 64 of A-Z a-z 0-9 . _ -'),
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

export interface RingRules {
  /** The service that the ring is for; undefined accepts any. */
  readonly owner?: KekOwner;
}

/** Whether the keys of a ring are in plain or wrapped by a KMS. */
type Form = 'plain' | 'wrapped' | 'either';

/**
 * Reads a KEK ring: a JWK Set whose keys are `{"kty":"oct","kid":…,"k":<256 bits, base64url>}`. A `kid` made by {@link
 * kidOf} names the service that the key is for; a key under the `kid` of another key is refused.
 *
 * @throws SealingError `invalid_kek_ring` with all errors, none of which quotes the text
 */
export function parseKekRing(text: string, rules: RingRules = {}): KekRing {
  const keys = readRing(text, rules, 'plain').map(({ kid, k = '' }): [string, KeyObject] => {
    const bytes = Buffer.from(k, 'base64url');
    try {
      return [kid, createSecretKey(bytes)];
    } finally {
      bytes.fill(0);
    }
  });
  return new KekRing(new Map(keys));
}

/**
 * Reads a ring whose keys have `wrapped` in place of `k`, and unwraps them with the KMS. The `kid` shows whether the result
 * is the key that was wrapped.
 *
 * @throws SealingError as {@link parseKekRing}; KmsError
 */
export async function openKekRing(text: string, rules: RingRules, kms: KeyWrapper): Promise<KekRing> {
  checkWrappedRing(text, rules);
  return parseKekRing(await unwrapKekRing(text, kms), rules);
}

/** Reads as much of such a ring as is possible without the KMS. @throws SealingError as {@link parseKekRing} */
export function checkWrappedRing(text: string, rules: RingRules): void {
  readRing(text, rules, 'wrapped');
}

/** The text of the ring with its keys in plain. @throws SealingError; KmsError */
export async function unwrapKekRing(text: string, kms: KeyWrapper): Promise<string> {
  return await rewriteEach(text, async ({ wrapped, ...key }) => {
    if (wrapped === undefined) return key;
    const bytes = await kms.unwrap(wrapped);
    try {
      return { ...key, k: bytes.toString('base64url') };
    } finally {
      bytes.fill(0);
    }
  });
}

/**
 * The text of the ring with each key as `change` returns it, one key after the other: an HSM answers one call at a time, so of
 * calls that are made together the last would time out, and again at each attempt.
 *
 * @throws SealingError; what `change` throws
 */
export async function rewriteEach(text: string, change: (key: KekJwk) => Promise<KekJwk>): Promise<string> {
  const changed: KekJwk[] = [];
  for (const key of readRing(text, {}, 'either')) changed.push(await change(key));
  return renderRing(changed);
}

export function renderRing(keys: readonly KekJwk[]): string {
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}

/** @throws SealingError as {@link parseKekRing} */
export function readRing(text: string, rules: RingRules, form: Form): KekJwk[] {
  const keys = readKeys(text);
  const problems = keys.flatMap((key, index) => [
    ...(keys.findIndex(({ kid }) => kid === key.kid) < index
      ? [`keys[${index}].kid: expected a kid that no other key has`]
      : []),
    ...[...problemsOfForm(key, form), ...problemsOfOwner(key, rules)].map((text) => `keys[${index}].${text}`),
  ]);
  if (problems.length > 0) throw invalid(problems);
  return keys;
}

function problemsOfForm({ kid, k, wrapped }: KekJwk, form: Form): string[] {
  if ((k === undefined) === (wrapped === undefined)) return [`k: ${EXPECTED_K}, or "wrapped" in its place`];
  if (wrapped !== undefined) {
    if (form === 'plain') return ['wrapped: the key is wrapped by a KMS, and no KMS is configured'];
    return ownerOf(kid) === undefined
      ? ['kid: expected one made by ori-admin kek, which identifies the key']
      : [];
  }
  return form === 'wrapped' ? ['k: expected a key wrapped by the KMS, as ori-admin kek wrap makes'] : [];
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

function problemsOfOwner({ kid, k }: KekJwk, { owner }: RingRules): string[] {
  const key = k === undefined ? undefined : Buffer.from(k, 'base64url');
  try {
    const named = ownerOf(kid);
    const problems = key?.every((byte) => byte === key[0]) ? ['k: expected random bytes'] : [];
    if (named === undefined) {
      if (owner !== undefined) problems.push(`kid: ${SHARED}`);
    } else if (key !== undefined && kid !== kidOf(named, key)) {
      problems.push('kid: does not match the key');
    } else if (owner !== undefined && named !== owner) {
      problems.push(`kid: belongs to the ring of the ${named} service`);
    }
    return problems;
  } finally {
    key?.fill(0);
  }
}
