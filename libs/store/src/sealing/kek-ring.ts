import { hkdfSync, type KeyObject } from 'node:crypto';
import { inspect } from 'node:util';

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

/**
 * The `kid` of a KEK: its owner, and 64 bits derived from owner and key (HKDF-SHA-256, RFC 5869), so that a key copied
 * into the other service's ring keeps the name that gives it away.
 */
export function kidOf(owner: KekOwner, key: Uint8Array): string {
  return `${owner}-${Buffer.from(hkdfSync('sha256', key, '', `ori kid ${owner}`, 8)).toString('hex')}`;
}

/** The service that the KEK is for; undefined for one whose `kid` names none. */
export function ownerOf(kid: string): KekOwner | undefined {
  return KEK_OWNERS.find((owner) => new RegExp(`^${owner}-[0-9a-f]{16}$`).test(kid));
}
