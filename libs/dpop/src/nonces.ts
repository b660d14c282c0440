import { createHmac } from 'node:crypto';

/**
 * The period for which a nonce is issued, in seconds. It is accepted one period longer, and one period early because
 * the clocks of servers differ.
 */
export const NONCE_SLOT_SECONDS = 30;

/** The purpose in the derivation of nonce secrets. */
export const DPOP_NONCE_PURPOSE = 'ori dpop nonces';

/** Stateless server nonces (RFC 9449, section 9) that every process with the same secrets accepts. */
export interface DpopNonces {
  /** The nonce to send as `DPoP-Nonce`. */
  current(): string;
  isGood(nonce: string): boolean;
}

/**
 * A nonce is the HMAC of the number of its 30-second period. It bounds the age of a proof by the server's clock, whatever the
 * client's clock says: one minute, plus up to 30 seconds by which the clocks of two servers may differ.
 *
 * @param secrets returns at least one secret of 32 bytes; called again every 30 seconds. The first creates nonces, all
 * are accepted
 * @param now milliseconds since the epoch
 */
export function createDpopNonces(secrets: () => readonly Uint8Array[], now: () => number): DpopNonces {
  let known:
    | { readonly slot: number; readonly current: string; readonly good: ReadonlySet<string> }
    | undefined;

  function look() {
    const slot = Math.floor(now() / 1000 / NONCE_SLOT_SECONDS);
    if (known?.slot !== slot) {
      const [first, ...others] = secrets();
      if (first === undefined) throw new TypeError('createDpopNonces: no secret');
      const good = [first, ...others].flatMap((secret) =>
        [slot - 1, slot, slot + 1].map((near) => nonceOf(secret, near)),
      );
      known = { slot, current: nonceOf(first, slot), good: new Set(good) };
    }
    return known;
  }

  return { current: () => look().current, isGood: (nonce) => look().good.has(nonce) };
}

function nonceOf(secret: Uint8Array, slot: number): string {
  return createHmac('sha256', secret)
    .update(`dpop-nonce:${slot}`)
    .digest()
    .subarray(0, 16)
    .toString('base64url');
}
