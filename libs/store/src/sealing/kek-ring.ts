import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { z } from 'zod';
import { SealingError } from './sealing-error.ts';

const KEKS_MAX = 16;

/** Key-encryption keys: the first one seals, each one opens what was sealed under its `kid`. Prints no key. */
export class KekRing {
  readonly #keys: ReadonlyMap<string, KeyObject>;

  constructor(keys: ReadonlyMap<string, KeyObject>) {
    if (keys.size === 0) throw new TypeError('a KEK ring holds at least one key');
    this.#keys = keys;
  }

  get kids(): string[] {
    return [...this.#keys.keys()];
  }

  /** The key that seals. */
  get primary(): { kid: string; key: KeyObject } {
    for (const [kid, key] of this.#keys) return { kid, key };
    throw new TypeError('a KEK ring holds at least one key');
  }

  key(kid: string): KeyObject | undefined {
    return this.#keys.get(kid);
  }

  /**
   * One secret of 32 bytes per key, in the ring's order, for a purpose that every process with the same ring shares
   * (HKDF-SHA-256, RFC 5869). Says nothing about the keys themselves.
   */
  derive(purpose: string): Uint8Array[] {
    return [...this.#keys.values()].map((key) => new Uint8Array(hkdfSync('sha256', key, '', purpose, 32)));
  }

  toJSON(): { kids: string[] } {
    return { kids: this.kids };
  }

  [inspect.custom](): string {
    return `KekRing [${this.kids.join(', ')}]`;
  }
}

const kekJwk = z.strictObject({
  kty: z.literal('oct', 'expected "oct"'),
  kid: z.string('expected a string').regex(/^[A-Za-z0-9._-]{1,64}$/, 'expected 1 to 64 of A-Z a-z 0-9 . _ -'),
  k: z
    .string('expected a string')
    .regex(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/, 'expected 256 bits in base64url (43 characters)'),
  alg: z.literal('A256GCMKW', 'expected "A256GCMKW", or leave it out').optional(),
  use: z.literal('enc', 'expected "enc", or leave it out').optional(),
});

const kekRing = z.strictObject({
  keys: z
    .array(kekJwk, 'expected an array of keys')
    .min(1, 'expected at least one key')
    .max(KEKS_MAX, `expected at most ${KEKS_MAX} keys`),
});

function complaintsOf(error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const place = z.core.toDotPath(issue.path) || 'ring';
    // The names of unknown members are left out: a value pasted into the wrong place must not be printed.
    return `${place}: ${issue.code === 'unrecognized_keys' ? 'holds a member that is not known' : issue.message}`;
  });
}

function invalid(complaints: string[]): SealingError {
  return new SealingError('invalid_kek_ring', `invalid KEK ring: ${complaints.join('; ')}`, complaints);
}

/**
 * Reads a KEK ring: a JWK Set whose keys are `{"kty":"oct","kid":…,"k":<256 bits, base64url>}`.
 *
 * @throws SealingError `invalid_kek_ring` with every complaint at once, none of which quotes the text
 */
export function parseKekRing(text: string): KekRing {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(['ring: expected JSON']);
  }
  const parsed = kekRing.safeParse(value);
  if (!parsed.success) throw invalid(complaintsOf(parsed.error));
  const complaints: string[] = [];
  const keys = new Map<string, KeyObject>();
  for (const [index, { kid, k }] of parsed.data.keys.entries()) {
    const bytes = Buffer.from(k, 'base64url');
    if (keys.has(kid)) complaints.push(`keys[${index}].kid: expected a kid that no other key has`);
    if (bytes.every((byte) => byte === bytes[0])) complaints.push(`keys[${index}].k: expected random bytes`);
    keys.set(kid, createSecretKey(bytes));
    bytes.fill(0);
  }
  if (complaints.length > 0) throw invalid(complaints);
  return new KekRing(keys);
}

/** The text of a new ring with one random key, ready to be written to a file of mode 0600. */
export function generateKekRing(): string {
  return render([newKek()]);
}

/**
 * The text of a ring with one random key more: at the end, where it only opens until every service has it, or first,
 * where it seals.
 *
 * @throws SealingError `invalid_kek_ring`, also when the ring is full
 */
export function extendKekRing(text: string, { first }: { readonly first: boolean }): string {
  parseKekRing(text);
  const { keys } = kekRing.parse(JSON.parse(text));
  const extended = render(first ? [newKek(), ...keys] : [...keys, newKek()]);
  parseKekRing(extended);
  return extended;
}

function newKek(): z.infer<typeof kekJwk> {
  const kid = `kek-${randomBytes(6).toString('hex')}`;
  return { kty: 'oct', kid, alg: 'A256GCMKW', use: 'enc', k: randomBytes(32).toString('base64url') };
}

function render(keys: readonly z.infer<typeof kekJwk>[]): string {
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}
