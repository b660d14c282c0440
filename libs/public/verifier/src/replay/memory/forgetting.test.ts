import { expect, test } from 'vitest';
import { memoryReplayStore } from './store.ts';

const NOW = 1_789_000_000;

/** A store created at NOW; `at` sets its clock, in seconds after that. */
function world(entriesMax = 1000) {
  let after = 0;
  const store = memoryReplayStore({ entriesMax, now: () => (NOW + after) * 1000 });
  const at = (seconds: number): void => {
    after = seconds;
  };
  const spend = (nonce: string, stamped: number, internId = 'int_1'): 'spent' =>
    store.spend({
      policy: { internId, maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false },
      timestamp: NOW + stamped,
      nowMs: (NOW + after) * 1000,
      nonce,
      signingInput: new Uint8Array(),
      v1Id: () => '',
    });
  return { at, spend };
}

test('refuses a proof older than its memory even before it forgot anything', () => {
  const { at, spend } = world();
  at(200);
  expect(() => spend('a', 200 - 92)).toThrow(expect.objectContaining({ code: 'proof_expired' }));
  expect(() => spend('a', 200 - 91)).not.toThrow();
});

test('does not evict a proof that some verifier may still accept', () => {
  const { at, spend } = world(1);
  at(10);
  spend('a', 10);
  at(10 + 689);
  expect(() => spend('b', 699, 'int_2')).toThrow(expect.objectContaining({ code: 'replay_store_full' }));
  at(10 + 691);
  expect(() => spend('b', 701, 'int_2')).not.toThrow();
});
