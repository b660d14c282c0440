import { signingInputV2 } from '@ori/proof';
import { expect, test } from 'vitest';
import { draftProof, reservationOf, reserveNonce } from './reserve-nonce.ts';
import { BODY_SHA256, entryOf, keyOf, NONCE, NOW, orderOf, ROUTE, turnOf } from './stages.fixture.ts';

const v1Turn = turnOf(keyOf(entryOf(orderOf({ bodySha256: BODY_SHA256 }))));

test('reserves the nonce for exactly the bytes that will be signed', () => {
  const draft = draftProof(turnOf(), NOW, NONCE);
  const signingInput = signingInputV2({
    internId: 'int_7Qm2',
    timestamp: NOW,
    user: 'user_2abc',
    bodySha256: BODY_SHA256,
    nonce: NONCE,
    method: 'POST',
    path: ROUTE.path,
  });
  expect(reservationOf(draft)).toEqual({ internId: 'int_7Qm2', nonce: NONCE, signingInput });
});

test('goes on only with a nonce that was reserved', () => {
  const draft = draftProof(turnOf(), NOW, NONCE);
  expect(reserveNonce(draft, false)).toBeUndefined();
  expect(reserveNonce(draft, true)).toBeDefined();
});

test('needs none for a v1 proof', () => {
  const draft = draftProof(v1Turn, NOW, NONCE);
  expect(reservationOf(draft)).toBeUndefined();
  expect(reserveNonce(draft, false)).toBeDefined();
});
