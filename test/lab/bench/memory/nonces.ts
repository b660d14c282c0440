import assert from 'node:assert/strict';
import { createNonce } from '@ori/proof/signing';
import { memoryReplayStore, type Spend } from '@ori/verifier';
import { answer } from '../../../env/worker.ts';

// Spends nonces in a new memory store and reports the heap bytes of each.

export interface NoncesOrder {
  readonly nonces: number;
  readonly internId: string;
}

const SECONDS = 60;

answer<NoncesOrder>(async ({ nonces, internId }) => {
  const before = heapBytes();
  let nowMs = Date.now();
  const now = () => nowMs;
  const store = memoryReplayStore({ entriesMax: nonces, now });
  const policy = { internId, maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };
  store.attach(policy);
  const spend = (): Spend => ({
    policy,
    timestamp: Math.floor(nowMs / 1000),
    nowMs,
    nonce: createNonce(),
    signingInput: new Uint8Array(),
    v1Id: () => '',
  });
  nowMs += 10_000;
  const startsAt = nowMs;
  for (let index = 0; index < nonces; index++) {
    nowMs = startsAt + Math.floor((index * SECONDS * 1000) / nonces);
    store.spend(spend());
  }
  const each = (heapBytes() - before) / nonces;
  // All are still remembered: the store is full.
  assert.throws(() => store.spend(spend()), { code: 'replay_store_full' });
  return { each };
});

function heapBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
