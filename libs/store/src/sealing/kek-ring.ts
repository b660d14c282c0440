import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { z } from 'zod';
import { SealingError } from './sealing-error.ts';

const KEKS_MAX = 16;

/** Whose secrets a KEK seals: the signer's seeds, or the provider keys that management stores. */
export type KekOwner = 'signer' | 'management';
export const KEK_OWNERS: readonly KekOwner[] = ['signer', 'management'];

/** Key-encryption keys: the first one seals, each one opens what was sealed under its `kid`. Prints no key. */
export class KekRing {
  #keys: ReadonlyMap<string, KeyObject>;
  #revision = 0;

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

  /** Rises whenever the keys are replaced. */
  get revision(): number {
    return this.#revision;
  }

  /** Takes over the keys of another ring, for everything that works with this one. */
  replaceBy(ring: KekRing): void {
    this.#keys = ring.#keys;
    this.#revision++;
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

export interface RingRules {
  /** The service that the ring is for. Undefined takes any. */
  readonly owner?: KekOwner;
  /** Takes keys whose `kid` names no service, which another service may hold too. */
  readonly allowShared?: boolean;
}

/**
 * Reads a KEK ring: a JWK Set whose keys are `{"kty":"oct","kid":…,"k":<256 bits, base64url>}`. A `kid` made by
 * {@link kidOf} names the one service that the key is for; a key is refused under the name that another one has.
 *
 * @throws SealingError `invalid_kek_ring` with every complaint at once, none of which quotes the text
 */
export function parseKekRing(text: string, rules: RingRules = {}): KekRing {
  const complaints: string[] = [];
  const keys = new Map<string, KeyObject>();
  for (const [index, { kid, k }] of readKeys(text).entries()) {
    const bytes = Buffer.from(k, 'base64url');
    if (keys.has(kid)) complaints.push(`keys[${index}].kid: expected a kid that no other key has`);
    if (bytes.every((byte) => byte === bytes[0])) complaints.push(`keys[${index}].k: expected random bytes`);
    complaints.push(...complaintsOfOwner(kid, bytes, rules).map((text) => `keys[${index}].kid: ${text}`));
    keys.set(kid, createSecretKey(bytes));
    bytes.fill(0);
  }
  if (complaints.length > 0) throw invalid(complaints);
  return new KekRing(keys);
}

function readKeys(text: string): z.infer<typeof kekJwk>[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(['ring: expected JSON']);
  }
  const parsed = kekRing.safeParse(value);
  if (!parsed.success) throw invalid(complaintsOf(parsed.error));
  return parsed.data.keys;
}

/**
 * The `kid` of a KEK: its owner, and 64 bits derived from owner and key (HKDF-SHA-256, RFC 5869), so that a key copied
 * into the other service's ring keeps the name that gives it away.
 */
function kidOf(owner: KekOwner, key: Uint8Array): string {
  return `${owner}-${Buffer.from(hkdfSync('sha256', key, '', `ori kid ${owner}`, 8)).toString('hex')}`;
}

/** The service that the KEK is for; undefined for one whose `kid` names none. */
export function ownerOf(kid: string): KekOwner | undefined {
  return KEK_OWNERS.find((owner) => new RegExp(`^${owner}-[0-9a-f]{16}$`).test(kid));
}

function complaintsOfOwner(kid: string, key: Uint8Array, { owner, allowShared }: RingRules): string[] {
  const named = ownerOf(kid);
  if (named === undefined) {
    if (owner === undefined || allowShared) return [];
    return ['names no service, so another service may hold the key too: give each service a ring of its own'];
  }
  if (kid !== kidOf(named, key)) return ['does not belong to its key'];
  return owner === undefined || named === owner ? [] : [`belongs to the ring of the ${named} service`];
}

/** The text of a new ring with one random key, ready to be written to a file of mode 0600. */
export function generateKekRing(owner: KekOwner): string {
  return render([newKek(owner)]);
}

/**
 * The text of a ring with one random key more, at the end, where it only opens.
 *
 * @throws SealingError `invalid_kek_ring`, also when the ring is full or is another service's
 */
export function extendKekRing(text: string, owner: KekOwner): string {
  return rewrite(text, owner, (keys) => [...keys, newKek(owner)]);
}

/** The text of a ring whose first key is the one named: it seals from then on. @throws as {@link extendKekRing} */
export function promoteKek(text: string, owner: KekOwner, kid: string): string {
  return rewrite(text, owner, (keys) => [
    ...keys.filter((key) => key.kid === kid),
    ...keys.filter((key) => key.kid !== kid),
  ]);
}

/** The text of a ring without the key named. @throws as {@link extendKekRing} */
export function removeKek(text: string, owner: KekOwner, kid: string): string {
  return rewrite(text, owner, (keys) => keys.filter((key) => key.kid !== kid));
}

function rewrite(
  text: string,
  owner: KekOwner,
  change: (keys: z.infer<typeof kekJwk>[]) => z.infer<typeof kekJwk>[],
): string {
  parseKekRing(text, { owner, allowShared: true });
  const changed = render(change(readKeys(text)));
  parseKekRing(changed, { owner, allowShared: true });
  return changed;
}

function newKek(owner: KekOwner): z.infer<typeof kekJwk> {
  const key = randomBytes(32);
  return { kty: 'oct', kid: kidOf(owner, key), alg: 'A256GCMKW', use: 'enc', k: key.toString('base64url') };
}

function render(keys: readonly z.infer<typeof kekJwk>[]): string {
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}
