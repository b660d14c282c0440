import { expect, test } from 'vitest';
import { authenticate } from './authenticate.ts';
import { draftProof } from './draft-proof.ts';
import { passGate } from './pass-gate.ts';
import { readRequest } from './read-request.ts';
import { record } from './record.ts';
import { requireHolder } from './require-holder.ts';
import { requireScope } from './require-scope.ts';
import { reserveNonce } from './reserve-nonce.ts';
import { sign } from './sign.ts';
import {
  bearer,
  codeOf,
  draftOf,
  entryOf,
  GATE,
  grantOf,
  keyOf,
  NONCE,
  NOW,
  orderOf,
  reservedOf,
  SIGNING_KEY,
  TOKEN,
  turnOf,
  VERDICT,
} from './stages.fixture.ts';
import { throttle } from './throttle.ts';
import { unlockKey } from './unlock-key.ts';

/** Never called: it is the compiler that judges it, in `npm run check`. */
export function skipped(): unknown[] {
  const look = { session: TOKEN, stage: 'authenticate' as const };
  return [
    // @ts-expect-error a bearer is no caller
    requireHolder(bearer, undefined, false),
    // @ts-expect-error a caller has not proven that the credential is its own
    requireScope(authenticate(bearer, { token: TOKEN }, NOW)),
    // @ts-expect-error a claimed thumbprint is not a proven one
    requireHolder(authenticate(bearer, { token: TOKEN }, NOW), { thumbprint: 'x' }, false),
    // @ts-expect-error nor is what only looks like one
    requireScope(look),
    // @ts-expect-error a caller whose scope was not checked is not a grant
    readRequest(look, new Uint8Array()),
    // @ts-expect-error a grant is no order: the body was not read
    passGate(grantOf(), GATE),
    // @ts-expect-error an order did not pass the gate
    unlockKey(orderOf(), SIGNING_KEY),
    // @ts-expect-error an entry has no key in hand
    draftProof(entryOf(), NOW, NONCE),
    // @ts-expect-error a key in hand is no draft
    throttle(keyOf(), VERDICT),
    // @ts-expect-error a draft was charged no turn
    reserveNonce(draftOf(), true),
    // @ts-expect-error a turn's nonce is not reserved
    record(turnOf(), '', { line: '' }),
    // @ts-expect-error a reserved proof is not on record
    sign(reservedOf()),
  ];
}

test('a skipped stage also fails at run time', () => {
  expect(skipped).toThrow();
  expect(codeOf(() => unlockKey(entryOf(), undefined))).toBe('configuration_error');
});
