import { randomBytes } from 'node:crypto';
import { renderJwkSet } from '@ori/proof/jwk-set';
import { createNonce, createSigningKey } from '@ori/proof/signing';
import { signingInput } from '@ori/proof/signing-input';
import {
  ALL_VERSIONS,
  bodySha256,
  PROOF_METHOD,
  type ProofHeaderValues,
  renderProof,
  type Version,
} from '@ori/proof/wire';
import { memoryReplayStore } from './replay/memory/store.ts';
import type { ReplayStore } from './replay/replay-store.ts';
import type { SignedRequest } from './request.ts';

/** Options of `createTestSigner`. */
export interface TestSignerOptions {
  internId: string;
  /** The same seed makes the same key: 32 bytes. Random by default. */
  seed?: Uint8Array | undefined;
  /** Unix time in milliseconds; `Date.now` by default. */
  now?: (() => number) | undefined;
}

/** The request that a test signs. */
export interface TestProofOptions {
  path: string;
  /** Text is sent as UTF-8. */
  body: Uint8Array | string;
  user?: string | undefined;
  /** Unix seconds; now by default. */
  timestamp?: number | undefined;
  nonce?: string | undefined;
  /** 1 omits the version 2 headers. */
  version?: Version | undefined;
}

/** Signs proofs like the signer, for a daemon's own tests, with a key that nothing else trusts. */
export function createTestSigner({ internId, seed, now = Date.now }: TestSignerOptions) {
  const key = createSigningKey(seed ?? randomBytes(32));

  /** The proof's headers, to be sent with exactly this body to exactly this path. */
  const sign = (options: TestProofOptions): ProofHeaderValues => {
    const { path, user = 'user_test', version = 2, nonce = createNonce() } = options;
    const timestamp = options.timestamp ?? Math.floor(now() / 1000);
    const request = { bodySha256: bodySha256(toBytes(options.body)), method: PROOF_METHOD, path } as const;
    const fields = { internId, timestamp, user, nonce, ...request };
    const signatures = ALL_VERSIONS.filter((one) => one <= version).map((one) => ({
      version: one,
      signature: key.sign(signingInput(one, fields)),
    }));
    return renderProof({ timestamp, user, nonce, signatures });
  };

  return {
    internId,
    /** For `createLocalKeySet`. */
    jwks: renderJwkSet([key]),
    sign,
    /** A whole request for `verifier.verify`, of type application/json. */
    request: (options: TestProofOptions): SignedRequest => ({
      method: PROOF_METHOD,
      target: options.path,
      rawHeaders: ['Content-Type', 'application/json', ...Object.entries(sign(options)).flat()],
      body: toBytes(options.body),
    }),
  };
}

export type TestSigner = ReturnType<typeof createTestSigner>;

/** A memory store that behaves as if created an hour ago, so that a test need not wait for its fence. */
export function createTestReplayStore(): ReplayStore {
  let earlierMs = 3_600_000;
  const store = memoryReplayStore({
    now: () => Date.now() - earlierMs,
    uptime: () => performance.now() - earlierMs,
  });
  earlierMs = 0;
  return store;
}

function toBytes(body: Uint8Array | string): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : body;
}

export { type ReplayStoreUnderTest, requireReplayStore } from './replay/require-replay-store.ts';
