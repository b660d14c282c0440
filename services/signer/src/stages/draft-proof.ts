import { signingInputV1, signingInputV2 } from '@ori/proof';
import type { ClockChecked } from './evidence.ts';
import type { UnlockedKey } from './unlock-key.ts';

/** The bytes of a proof with a fixed time and nonce; no turn is charged and no nonce reserved yet. */
class Draft {
  protected readonly stage = 'draftProof';
  readonly key: UnlockedKey;
  readonly clock: ClockChecked;
  readonly timestamp: number;
  readonly inputV1: Uint8Array;
  /** Present if the request named its route: the bytes to sign, and the nonce to reserve first. */
  readonly v2: { readonly nonce: string; readonly input: Uint8Array } | undefined;

  constructor(key: UnlockedKey, clock: ClockChecked, timestamp: number, nonce: string) {
    const { entry } = key;
    const { bodySha256, route, grant } = entry.order;
    const proof = { internId: entry.internId, timestamp, user: grant.session.subject, bodySha256 };
    this.key = key;
    this.clock = clock;
    this.timestamp = timestamp;
    this.inputV1 = signingInputV1(proof);
    this.v2 = route && { nonce, input: signingInputV2({ ...proof, ...route, nonce }) };
  }
}

export type { Draft };

/** What is stored so that no nonce is issued twice. */
export interface Reservation {
  readonly internId: string;
  readonly nonce: string;
  /** The v2 signing input: a daemon that redeems the nonce compares its digest. */
  readonly signingInput: Uint8Array;
}

/**
 * Eighth stage. It refuses nothing. The draft comes before the charge, so that one command charges the turn
 * and reserves the nonce.
 *
 * @param timestamp Unix seconds, of the signer's clock
 */
export function draftProof(key: UnlockedKey, clock: ClockChecked, timestamp: number, nonce: string): Draft {
  return new Draft(key, clock, timestamp, nonce);
}

/** The reservation that a draft needs; undefined for a v1 proof, which has no nonce. */
export function reservationOf(draft: Draft): Reservation | undefined {
  if (draft.v2 === undefined) return undefined;
  const { nonce, input } = draft.v2;
  return { internId: draft.key.entry.internId, nonce, signingInput: input };
}
