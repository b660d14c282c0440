import type { Draft } from './draft-proof.ts';
import { type Made, made } from './stage.ts';
import type { Turn } from './throttle.ts';

/** How many nonces are drawn before the random source counts as broken. */
export const NONCE_DRAWS_MAX = 3;

/** The bytes of a proof whose turn was charged and whose nonce, if any, is reserved. */
export interface ReservedProof extends Made<'reserveNonce'> {
  readonly draft: Draft;
}

/**
 * @param reserved whether the store wrote the draft's reservation; false if the nonce was taken
 * @returns undefined if another nonce must be drawn
 */
export function reserveNonce({ draft }: Turn, reserved: boolean): ReservedProof | undefined {
  return draft.nonce === undefined || reserved ? made<ReservedProof>({ draft }) : undefined;
}
