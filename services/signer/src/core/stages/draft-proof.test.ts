import { signingInputV2 } from '@ori/proof/signing-input';
import { expect, test } from 'vitest';
import { reservationOf } from './draft-proof.ts';
import { BODY_SHA256, draftOf, entryOf, keyOf, NONCE, NOW, orderOf, ROUTE } from './stages.fixture.ts';

test('reserves the nonce for exactly the bytes that will be signed', () => {
  const signingInput = signingInputV2({
    internId: 'int_7Qm2',
    timestamp: NOW,
    user: 'user_2abc',
    bodySha256: BODY_SHA256,
    nonce: NONCE,
    method: 'POST',
    path: ROUTE.path,
  });
  expect(reservationOf(draftOf())).toEqual({ internId: 'int_7Qm2', nonce: NONCE, signingInput });
});

test('reserves none for a v1 proof', () => {
  const v1 = draftOf(keyOf(entryOf(orderOf({ bodySha256: BODY_SHA256 }))));
  expect(reservationOf(v1)).toBeUndefined();
});
