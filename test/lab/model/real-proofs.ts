import { createHash } from 'node:crypto';
import {
  bodySha256,
  type JwkSet,
  PROOF_METHOD,
  renderJwkSet,
  renderProof,
  signingInputV1,
  signingInputV2,
} from '@ori/proof';
import { createSigningKey, type SigningKey } from '@ori/proof/signing';
import type { SignedRequest } from '../../../libs/public/verifier/src/request.ts';
import type { Change, Form } from './configuration.ts';
import type { Key, Proof } from './state.ts';

/** The seconds of a model unit: the model's periods are then 60, 30 and 30 s. */
export const UNIT_SECONDS = 30;
export const MAX_AGE_SECONDS = 60;
export const TOLERANCE_SECONDS = 30;

/** The Unix time, in seconds, of a model unit. */
export function secondsOf(unit: number): number {
  return 1_800_000_000 + unit * UNIT_SECONDS;
}

export function nonceOf(number: number): string {
  return Buffer.alloc(16, number).toString('base64url');
}

/** The key with this number: the same in every run. */
function keyOf(id: number): SigningKey {
  return createSigningKey(createHash('sha256').update(`key ${id}`).digest());
}

export function jwksOf(keys: readonly Key[]): JwkSet {
  return renderJwkSet(
    keys.map(({ id, nbf, exp }) => ({
      publicKey: keyOf(id).publicKey,
      notBefore: secondsOf(nbf),
      expiresAt: secondsOf(exp),
    })),
  );
}

function namesOf(names: Names, { intern, at, user, body }: Proof) {
  return {
    internId: names.internId(intern),
    timestamp: secondsOf(at),
    user: `user_${user}`,
    bodySha256: bodySha256(bytesOf(body)),
  };
}

export interface Names {
  internId(intern: number): string;
}

/** The input that the signer reserves and signs as version 2. */
export function realInputV2(names: Names, proof: Proof): Uint8Array {
  const path = `/path/${proof.path}`;
  return signingInputV2({
    ...namesOf(names, proof),
    nonce: nonceOf(proof.nonce),
    method: PROOF_METHOD,
    path,
  });
}

/** The request of a proof, signed by the real code and altered by the network. */
export function requestOf(names: Names, proof: Proof, form: Form, change: Change): SignedRequest {
  const key = keyOf(change === 'forged' ? 999 : proof.key);
  const another = (value: number, name: Change): number => (change === name ? value + 7 : value);
  const v2 = {
    signature: key.sign(realInputV2(names, proof)),
    nonce: nonceOf(another(proof.nonce, 'nonce')),
  };
  const headers = renderProof({
    timestamp: secondsOf(change === 'at' ? proof.at + 1 : proof.at),
    user: `user_${another(proof.user, 'user')}`,
    nonce: v2.nonce,
    signatures: [
      { version: 1, signature: key.sign(signingInputV1(namesOf(names, proof))) },
      ...(form === 'pair' ? [{ version: 2 as const, signature: v2.signature }] : []),
    ],
  });
  return {
    method: change === 'method' ? 'PUT' : PROOF_METHOD,
    target: `/path/${another(proof.path, 'path')}`,
    rawHeaders: ['Content-Type', 'application/json', ...Object.entries(headers).flat()],
    body: bytesOf(another(proof.body, 'body')),
  };
}

function bytesOf(body: number): Uint8Array {
  return Buffer.from(`{"body":${body}}`);
}
