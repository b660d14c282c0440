import { expect, test } from 'vitest';
import { reserveNonce } from './reserve-nonce.ts';
import { BODY_SHA256, draftOf, entryOf, keyOf, NOW, orderOf, turnOf, VERDICT } from './stages.fixture.ts';
import { redraft } from './throttle.ts';

test('continues only with a reserved nonce', () => {
  expect(reserveNonce(turnOf(), false)).toBeUndefined();
  expect(reserveNonce(turnOf(), true)).toBeDefined();
});

test('needs no nonce for a v1 proof', () => {
  const v1 = draftOf(keyOf(entryOf(orderOf({ bodySha256: BODY_SHA256 }))));
  expect(reserveNonce(turnOf(v1), false)).toBeDefined();
});

test('another nonce uses the same turn', () => {
  const again = redraft(turnOf(), NOW + 1, 'EBESExQVFhcYGRobHB0eHw');
  expect(again.verdict).toBe(VERDICT);
  expect(again.draft.key).toEqual(turnOf().draft.key);
  expect(reserveNonce(again, true)?.draft).toMatchObject({
    timestamp: NOW + 1,
    nonce: 'EBESExQVFhcYGRobHB0eHw',
  });
});
