import { expect, test } from 'vitest';
import { createAdversary } from './adversary.ts';
import type { Proof } from './proofs.ts';
import { createRandom } from './random.ts';

const proof = (id: string, timestamp = 1000): Proof => ({ id, timestamp, rawHeaders: [], body: '' });

/** The ids of the next `count` presentations. */
function presented(adversary: ReturnType<typeof createAdversary>, count: number, nowSeconds: number) {
  const ids = Array.from({ length: count }, () => adversary.next(nowSeconds)?.proof.id);
  return new Set(ids);
}

test('at the worst moment, presents accepted and unanswered proofs, however many were refused since', () => {
  const adversary = createAdversary(createRandom('a'), 60);
  adversary.hear(proof('won'));
  adversary.accepted(proof('won'));
  adversary.unanswered(proof('lost'));
  for (let count = 0; count < 9000; count += 1) adversary.hear(proof(`refused ${count}`));
  adversary.worstMoment();
  const ids = presented(adversary, 2, 1000);
  expect(ids).toEqual(new Set(['won', 'lost']));
  expect(presented(adversary, 1, 1000)).toEqual(new Set(['refused 8999']));
});

test('keeps some proofs for minutes and presents them to verifiers that still accept their age', () => {
  const adversary = createAdversary(createRandom('a'), 600);
  const perSecond = 200;
  for (let count = 0; count < 60 * perSecond; count += 1) {
    adversary.hear(proof(String(count), 1000 + Math.floor(count / perSecond)));
  }
  const minuteOld = [...presented(adversary, 2000, 1060)].filter((id) => Number(id) < 10 * perSecond);
  expect(minuteOld.length).toBeGreaterThan(10);
});
