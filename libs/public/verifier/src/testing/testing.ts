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
import { memoryReplayStore } from '../replay/memory/store.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import type { SignedRequest } from '../request.ts';

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

/** A call to send to a daemon under test, by POST and with the type application/json. */
export interface TestCall {
  /** What is wrong with it. */
  name: string;
  /** Whether a daemon must accept it. */
  accepted: boolean;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
}

/** Signs proofs like the signer, for a daemon's own tests, with a key that nothing else trusts. */
export function createTestSigner({ internId, seed, now = Date.now }: TestSignerOptions) {
  const secret = seed ?? randomBytes(32);
  const key = createSigningKey(secret);

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

  /**
   * A call that the daemon must accept, and ten that it must not, to be sent in this order: the first of the ten is the
   * accepted one again.
   */
  const hostileCalls = (options: Pick<TestProofOptions, 'path' | 'body' | 'user'>): TestCall[] => {
    const { path } = options;
    const bytes = Uint8Array.from(toBytes(options.body));
    const seconds = Math.floor(now() / 1000);
    const honest = sign(options);
    const refused = (name: string, headers: object, { at = path, body = bytes } = {}): TestCall => ({
      name,
      accepted: false,
      path: at,
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    const elsewhere = createTestSigner({ internId: `${internId}_other`, seed: secret, now });
    return [
      { ...refused('a right proof', honest), accepted: true },
      refused('a right proof again', honest),
      refused('no proof', {}),
      refused('the proof of another path', sign({ ...options, path: `${path}/other` })),
      refused('the proof of another body', sign(options), { body: Uint8Array.of(...bytes, 0x20) }),
      refused('a query', sign(options), { at: `${path}?x=1` }),
      refused('the proof of another person', { ...sign(options), 'x-ori-invoke-user': 'user_other' }),
      refused('an hour old', sign({ ...options, timestamp: seconds - 3600 })),
      refused('an hour ahead', sign({ ...options, timestamp: seconds + 3600 })),
      refused('a proof for another intern', elsewhere.sign(options)),
      refused('a key that is not the intern’s', createTestSigner({ internId, now }).sign(options)),
    ];
  };

  return {
    internId,
    hostileCalls,
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

export type { ReplayStoreUnderTest } from './replay-store-bench.ts';
export { requireReplayStore } from './require-replay-store.ts';
