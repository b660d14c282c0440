import { type Configuration, MAX_AGE, TOLERANCE } from './configuration.ts';
import type { Message } from './message.ts';
import { inputV1, inputV2, signed, v1IdOf } from './signing-input.ts';
import type { Key } from './state.ts';

export interface Judge {
  readonly configuration: Configuration;
  readonly intern: number;
  readonly acceptV1: boolean;
  readonly keys: readonly Key[];
  readonly now: number;
}

/** The request to the store after the signature was verified. */
export interface Claim {
  readonly version: 1 | 2;
  readonly intern: number;
  readonly at: number;
  readonly nonce: number | undefined;
  readonly v1Id: string;
  readonly input: string;
}

/** Checks version, request and time, in this order. Returns the refusal code, or undefined. */
export function refuseHead({ configuration, acceptV1, now }: Judge, message: Message): string | undefined {
  const { broken } = configuration;
  if (message.v2 === undefined && !acceptV1 && !broken.has('v1-by-default'))
    return 'proof_version_not_accepted';
  if (message.method !== 'POST' && !broken.has('method-not-checked')) return 'request_not_coverable';
  if (message.at < now - MAX_AGE && !broken.has('age-not-checked')) return 'proof_expired';
  if (message.at > now + TOLERANCE && !broken.has('future-not-checked')) return 'proof_not_yet_valid';
  return undefined;
}

/** The claim of a message for the verifier's own intern, path and body, before its signature is checked. */
export function claimOf({ configuration, intern }: Judge, { at, user, body, path, v2 }: Message): Claim {
  const named = { intern, at, user, body };
  const v1Id = v1IdOf(named);
  if (v2 === undefined) {
    return { version: 1, intern, at, nonce: undefined, v1Id, input: inputV1(configuration, named) };
  }
  const input = inputV2(configuration, { ...named, path, nonce: v2.nonce });
  return { version: 2, intern, at, nonce: v2.nonce, v1Id, input };
}

/** Returns the refusal code for the signature of this claim, or undefined. */
export function refuseSignature(judge: Judge, claim: Claim, signature: string): string | undefined {
  const { broken } = judge.configuration;
  const good = judge.keys.filter(
    ({ nbf, exp }) =>
      (nbf <= claim.at || broken.has('nbf-ignored')) && (claim.at < exp || broken.has('exp-ignored')),
  );
  if (good.length === 0) return 'key_unknown';
  if (broken.has('signature-not-checked')) return undefined;
  return good.some(({ id }) => signature === signed(id, claim.input)) ? undefined : 'signature_invalid';
}
