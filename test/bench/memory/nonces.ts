import { createNonce } from '@ori/proof/signing';
import { memoryReplayStore, type Spend } from '@ori/verifier';
import { answer } from './answer.ts';

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
    ...{ policy, timestamp: Math.floor(nowMs / 1000), nowMs, nonce: createNonce() },
    ...{ signingInput: new Uint8Array(), v1Id: () => '' },
  });
  nowMs += 10_000;
  const startsAt = nowMs;
  for (let index = 0; index < nonces; index++) {
    nowMs = startsAt + Math.floor((index * SECONDS * 1000) / nonces);
    store.spend(spend());
  }
  const each = (heapBytes() - before) / nonces;
  // Checks that all are still remembered: the store is full.
  if (!isFull(() => store.spend(spend()))) throw new Error('some nonces were forgotten');
  return { each };
});

function heapBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function isFull(spend: () => void): boolean {
  try {
    spend();
    return false;
  } catch (error) {
    return (error as { code?: string }).code === 'replay_store_full';
  }
}
