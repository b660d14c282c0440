import { signingInputV1, signingInputV2 } from '@ori/proof';
import type { UnlockedKey } from './unlock-key.ts';

/** The bytes of a proof, its time and nonce fixed, neither paid for nor its nonce reserved. */
class Draft {
  protected readonly stage = 'draftProof';
  readonly key: UnlockedKey;
  readonly timestamp: number;
  readonly inputV1: Uint8Array;
  /** Present where the request named its route: what is signed, and what must be reserved first. */
  readonly v2: { readonly nonce: string; readonly input: Uint8Array } | undefined;

  constructor(key: UnlockedKey, timestamp: number, nonce: string) {
    const { entry } = key;
    const { bodySha256, route, grant } = entry.order;
    const proof = { internId: entry.internId, timestamp, user: grant.session.subject, bodySha256 };
    this.key = key;
    this.timestamp = timestamp;
    this.inputV1 = signingInputV1(proof);
    this.v2 = route && { nonce, input: signingInputV2({ ...proof, ...route, nonce }) };
  }
}

export type { Draft };

/** What is written so that a nonce is never issued twice. */
export interface Reservation {
  readonly internId: string;
  readonly nonce: string;
  /** The v2 signing input: a daemon that redeems the nonce compares its digest. */
  readonly signingInput: Uint8Array;
}

/**
 * Eighth stage. It refuses nothing: the draft is made before the turn is charged, so that one question to Redis does for
 * the turn and the nonce.
 *
 * @param timestamp Unix seconds, of the signer's clock
 */
export function draftProof(key: UnlockedKey, timestamp: number, nonce: string): Draft {
  return new Draft(key, timestamp, nonce);
}

/** What has to be reserved for a draft; undefined for a v1 proof, which has no nonce. */
export function reservationOf(draft: Draft): Reservation | undefined {
  if (draft.v2 === undefined) return undefined;
  const { nonce, input } = draft.v2;
  return { internId: draft.key.entry.internId, nonce, signingInput: input };
}
