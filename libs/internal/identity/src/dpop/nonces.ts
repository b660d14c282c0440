import { createHmac, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/**
 * The period for which a nonce is issued, in seconds. It is accepted one period longer, and one period early because
 * the clocks of servers differ.
 */
export const NONCE_SLOT_SECONDS = 30;

/** The purpose in the derivation of nonce secrets. */
export const DPOP_NONCE_PURPOSE = 'ori dpop nonces';

const NONCE = /^([0-9]{1,12})\.([A-Za-z0-9_-]{12})\.[A-Za-z0-9_-]{22}$/;
/** The epoch in a nonce while the store's epoch is unknown. No store uses it. */
const UNKNOWN_EPOCH = '-'.repeat(12);
const VERIFIED_MAX = 1000;

/** A new epoch of a store of used proofs: the last 48 bits of a random UUID in hex. */
export const drawEpoch = (): string => randomUUID().slice(24);

/**
 * A nonce is the number of its 30-second period, the epoch of the store of used proofs, and the HMAC of both. The period
 * bounds the age of a proof by the server's clock, whatever the client's clock says: one minute, plus up to 30 seconds by
 * which the clocks of two servers may differ. The store refuses proofs that carry another epoch than its own.
 *
 * @param secrets returns at least one secret of 32 bytes; called again every 30 seconds. The first creates nonces, all
 * are accepted
 * @param now milliseconds since the epoch
 * @param epoch of the store of used proofs; undefined if it is unknown
 */
export function createDpopNonces(
  secrets: () => readonly Uint8Array[],
  now: () => number,
  epoch: () => string | undefined,
) {
  const verified = new LRUCache<string, number>({ max: VERIFIED_MAX });
  let known: { readonly slot: number; readonly secrets: readonly Uint8Array[] } | undefined;
  let issued: { readonly slot: number; readonly epoch: string; readonly nonce: string } | undefined;

  function look() {
    const slot = Math.floor(now() / 1000 / NONCE_SLOT_SECONDS);
    if (known?.slot !== slot) known = { slot, secrets: secrets() };
    return known;
  }

  /** The period of a nonce that one of the secrets made. */
  function slotOf(nonce: string, slot: number, of: string): number | undefined {
    const seen = verified.get(nonce);
    if (seen !== undefined) return seen;
    if (!look().secrets.some((secret) => nonceOf(secret, slot, of) === nonce)) return undefined;
    verified.set(nonce, slot);
    return slot;
  }

  return {
    /** The nonce to send as `DPoP-Nonce`. */
    current(): string {
      const {
        slot,
        secrets: [first],
      } = look();
      if (first === undefined) throw new TypeError('createDpopNonces: no secret');
      const of = epoch() ?? UNKNOWN_EPOCH;
      if (issued?.slot !== slot || issued.epoch !== of)
        issued = { slot, epoch: of, nonce: nonceOf(first, slot, of) };
      return issued.nonce;
    },
    /** The epoch that a nonce carries; undefined unless this server made it and it is current. */
    epochOf(nonce: string): string | undefined {
      const [, number, of = ''] = NONCE.exec(nonce) ?? [];
      const slot = Number(number);
      // Undefined becomes NaN, which compares as false.
      if (!(Math.abs(slot - look().slot) <= 1)) return undefined;
      return slotOf(nonce, slot, of) === undefined ? undefined : of;
    },
  };
}

/** Unix seconds: the middle of the period for which a nonce was issued. */
export const nonceSeconds = (nonce: string): number =>
  (Number.parseInt(nonce, 10) + 0.5) * NONCE_SLOT_SECONDS;

/** Stateless server nonces (RFC 9449, section 9) that every process with the same secrets accepts. */
export type DpopNonces = ReturnType<typeof createDpopNonces>;

function nonceOf(secret: Uint8Array, slot: number, epoch: string): string {
  const tag = createHmac('sha256', secret).update(`dpop-nonce:${slot}.${epoch}`).digest().subarray(0, 16);
  return `${slot}.${epoch}.${tag.toString('base64url')}`;
}
