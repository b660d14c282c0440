import { hkdfSync, type KeyObject } from 'node:crypto';
import { inspect } from 'node:util';

/** The service whose secrets a KEK seals: the signer's seeds, or the provider keys that management stores. */
export type KekOwner = 'signer' | 'management';
export const KEK_OWNERS: readonly KekOwner[] = ['signer', 'management'];

/** Key-encryption keys: the first one seals, each one opens texts sealed under its `kid`. Never prints a key. */
export class KekRing {
  #keys: ReadonlyMap<string, KeyObject>;
  #revision = 0;

  constructor(keys: ReadonlyMap<string, KeyObject>) {
    this.#keys = keys;
  }

  get kids(): string[] {
    return [...this.#keys.keys()];
  }

  get primary(): { kid: string; key: KeyObject } {
    for (const [kid, key] of this.#keys) return { kid, key };
    throw new TypeError('a KEK ring needs at least one key');
  }

  key(kid: string): KeyObject | undefined {
    return this.#keys.get(kid);
  }

  /**
   * Derives one 32-byte secret per key, in the order of the ring, for a purpose that every process with the same ring
   * shares (HKDF-SHA-256, RFC 5869). Reveals nothing about the keys.
   */
  derive(purpose: string): Uint8Array[] {
    return [...this.#keys.values()].map((key) => new Uint8Array(hkdfSync('sha256', key, '', purpose, 32)));
  }

  /** Increases whenever the keys are replaced. */
  get revision(): number {
    return this.#revision;
  }

  /** Replaces the keys by those of another ring, for every user of this ring. */
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
 * into the ring of the other service can be recognized.
 */
export function kidOf(owner: KekOwner, key: Uint8Array): string {
  return `${owner}-${Buffer.from(hkdfSync('sha256', key, '', `ori kid ${owner}`, 8)).toString('hex')}`;
}

export const KID = /^(signer|management)-[0-9a-f]{16}$/;
