import type { SignedRequest } from '../../../libs/public/verifier/src/request.ts';
import { createTestSigner } from '../../../libs/public/verifier/src/testing/testing.ts';
import type { Random } from './random.ts';

/** A signed request as the adversary records it, byte for byte. It represents one call: in any form, it may be accepted once. */
export interface Proof {
  readonly id: string;
  /** Unix seconds, as signed. */
  readonly timestamp: number;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** `whole` is unchanged; `stripped` lacks the version 2 headers; `forged` has another signature under the same nonce. */
export type Form = 'whole' | 'stripped' | 'forged';

const TARGET = '/api/invoke';
const SIGNATURE = 'x-ori-invoke-signature-v2';
const VERSION_2 = new Set([SIGNATURE, 'x-ori-invoke-nonce']);

/** Signs proofs with the run's key, each over a different body, so that no two share a version 1 id. */
export function createProofs({ internId, seed, tag }: { internId: string; seed: Uint8Array; tag: string }) {
  const signer = createTestSigner({ internId, seed });
  let count = 0;
  return {
    jwks: signer.jwks,
    sign(timestamp: number): Proof {
      const id = `${tag}.${count++}`;
      const body = `{"call":"${id}"}`;
      const { rawHeaders } = signer.request({ path: TARGET, body, timestamp });
      return { id, timestamp, rawHeaders, body };
    },
  };
}

/** The request in which a proof is presented. */
export function toRequest({ rawHeaders, body }: Proof, form: Form): SignedRequest {
  return { method: 'POST', target: TARGET, rawHeaders: headersIn(rawHeaders, form), body: Buffer.from(body) };
}

function headersIn(rawHeaders: readonly string[], form: Form): readonly string[] {
  if (form === 'whole') return rawHeaders;
  const isName = (index: number): boolean => index % 2 === 0;
  if (form === 'stripped') {
    return rawHeaders.filter(
      (_, index) => !VERSION_2.has(rawHeaders[isName(index) ? index : index - 1] ?? ''),
    );
  }
  return rawHeaders.map((text, index) => (rawHeaders[index - 1] === SIGNATURE ? otherSignature(text) : text));
}

/** A well-formed signature, but not over these bytes. */
function otherSignature(signature: string): string {
  return `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
}

export function createPool(size: number) {
  const ring: Proof[] = [];
  let added = 0;
  const back = (steps: number): Proof | undefined => ring[(added - 1 - steps) % size];
  return {
    add(proof: Proof): void {
      ring[added % size] = proof;
      added += 1;
    },
    newest: () => (added === 0 ? undefined : back(0)),
    /** A random one of the last `among`. */
    recent: (random: Random, among: number) =>
      added === 0 ? undefined : back(random.below(Math.min(among, ring.length))),
    /** A proof that a verifier with this clock would consider timely, if a few random picks find one. */
    timely(random: Random, nowSeconds: number, maxAgeSeconds: number): Proof | undefined {
      for (let look = 0; look < 8 && ring.length > 0; look += 1) {
        const proof = ring[random.below(ring.length)];
        if (proof && proof.timestamp > nowSeconds - maxAgeSeconds && proof.timestamp <= nowSeconds + 1)
          return proof;
      }
      return undefined;
    },
    last: (count: number) =>
      Array.from({ length: Math.min(count, ring.length) }, (_, steps) => back(steps)).filter(
        (proof) => proof !== undefined,
      ),
  };
}

/** The newest proofs that a party has seen, to be replayed. */
export type Pool = ReturnType<typeof createPool>;
