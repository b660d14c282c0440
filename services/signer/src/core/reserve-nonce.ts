import { signingInputV1, signingInputV2 } from '@ori/proof';
import type { Turn } from './throttle.ts';

/** How many nonces are drawn before a random source that repeats itself is given up. */
export const NONCE_DRAWS_MAX = 3;

class ProofDraft {
  protected readonly stage = 'draftProof';
  readonly turn: Turn;
  readonly timestamp: number;
  readonly inputV1: Uint8Array;
  /** Present where the request named its route: what is signed, and what must be reserved first. */
  readonly v2: { readonly nonce: string; readonly input: Uint8Array } | undefined;

  constructor(turn: Turn, timestamp: number, nonce: string) {
    const { entry } = turn.key;
    const { bodySha256, route, grant } = entry.order;
    const proof = { internId: entry.internId, timestamp, user: grant.session.subject, bodySha256 };
    this.turn = turn;
    this.timestamp = timestamp;
    this.inputV1 = signingInputV1(proof);
    this.v2 = route && { nonce, input: signingInputV2({ ...proof, ...route, nonce }) };
  }
}

class ReservedDraft {
  protected readonly stage = 'reserveNonce';
  readonly draft: ProofDraft;

  constructor(draft: ProofDraft) {
    this.draft = draft;
  }
}

/** The bytes of a proof, its time and nonce fixed, its nonce not reserved yet. */
export type Draft = ProofDraft;

/** The bytes of a proof whose nonce, where it has one, is nobody else's. */
export type ReservedProof = ReservedDraft;

/** What is written so that a nonce is never issued twice. */
export interface Reservation {
  readonly internId: string;
  readonly nonce: string;
  /** The v2 signing input: a daemon that redeems the nonce compares its digest. */
  readonly signingInput: Uint8Array;
}

/** @param timestamp Unix seconds, of the signer's clock */
export function draftProof(turn: Turn, timestamp: number, nonce: string): Draft {
  return new ProofDraft(turn, timestamp, nonce);
}

/** What has to be reserved for a draft; undefined for a v1 proof, which has no nonce. */
export function reservationOf(draft: Draft): Reservation | undefined {
  if (draft.v2 === undefined) return undefined;
  const { nonce, input } = draft.v2;
  return { internId: draft.turn.key.entry.internId, nonce, signingInput: input };
}

/**
 * Eighth stage.
 *
 * @param reserved whether the store wrote the reservation; false where the nonce was taken
 * @returns undefined where another nonce must be drawn
 */
export function reserveNonce(draft: Draft, reserved: boolean): ReservedProof | undefined {
  return draft.v2 === undefined || reserved ? new ReservedDraft(draft) : undefined;
}
