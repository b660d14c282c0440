import { signingInput } from '@ori/proof/signing-input';
import { IDENTIFYING_VERSION, issuedVersions, type Version } from '@ori/proof/versions';
import type { ClockChecked } from './evidence.ts';
import { type Made, made } from './stage.ts';
import type { UnlockedKey } from './unlock-key.ts';

/** The bytes of a proof with a fixed time and nonce; no turn is charged and no nonce reserved yet. */
export interface Draft extends Made<'draftProof'> {
  readonly key: UnlockedKey;
  readonly clock: ClockChecked;
  readonly timestamp: number;
  /** Present if the request named its route: to be reserved before anything is signed. */
  readonly nonce: string | undefined;
  /** The bytes to sign, the oldest version first. */
  readonly inputs: readonly { readonly version: Version; readonly input: Uint8Array }[];
}

/** What is stored so that no nonce is issued twice. */
export interface Reservation {
  readonly internId: string;
  readonly nonce: string;
  /** Of the identifying version: a daemon that redeems the nonce compares its digest. */
  readonly signingInput: Uint8Array;
}

/**
 * Never refuses. The draft precedes the charge, so that one command charges the turn and reserves the nonce.
 *
 * @param timestamp Unix seconds, of the signer's clock
 */
export function draftProof(key: UnlockedKey, clock: ClockChecked, timestamp: number, nonce: string): Draft {
  const { entry } = key;
  const { bodySha256, route, grant } = entry.order;
  const proof = {
    internId: entry.internId,
    timestamp,
    user: grant.session.subject,
    bodySha256,
    nonce,
    ...route,
  };
  const inputs = issuedVersions(route !== undefined).map((version) => ({
    version,
    input: signingInput(version, proof),
  }));
  return made<Draft>({ key, clock, timestamp, nonce: route && nonce, inputs });
}

/** The reservation that a draft needs; undefined for a proof without a nonce. */
export function reservationOf({ key, nonce, inputs }: Draft): Reservation | undefined {
  const identity = inputs.find(({ version }) => version === IDENTIFYING_VERSION);
  if (nonce === undefined || identity === undefined) return undefined;
  return { internId: key.entry.internId, nonce, signingInput: identity.input };
}
