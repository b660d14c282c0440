import { isUser, renderProof, signingInputV1, signingInputV2 } from '@ori/proof';
import { createSigningKey } from '@ori/proof/signing';
import { expect, test } from 'vitest';
import { readRequest } from '../../services/signer/src/core/stages/read-request.ts';
import { contentOf, grantOf } from '../../services/signer/src/core/stages/stages.fixture.ts';
import { SIGNING_VECTORS, type SigningVector } from '../vectors/read.ts';

/** Runs a vector through the signer's own modules. Its HTTP interface is tested in test/contract. */
function sign({ seed, internId, subject, now, nonce, requestBase64 }: SigningVector) {
  const order = (() => {
    try {
      return readRequest(grantOf(), contentOf(Buffer.from(requestBase64, 'base64')));
    } catch {
      return undefined;
    }
  })();
  if (order === undefined) return { expect: 'invalid_body' };
  if (!isUser(subject)) return { expect: 'no_proof' };
  const key = createSigningKey(Buffer.from(seed, 'hex'));
  const fields = { internId, timestamp: now, user: subject, bodySha256: order.bodySha256 };
  const v1 = signingInputV1(fields);
  const v2 = order.route && signingInputV2({ ...fields, ...order.route, nonce });
  return {
    expect: 'ok',
    signingInputV1: Buffer.from(v1).toString('latin1'),
    ...(v2 && { signingInputV2: Buffer.from(v2).toString('latin1') }),
    headers: renderProof({
      timestamp: now,
      user: subject,
      nonce: v2 && nonce,
      signatures: [
        { version: 1, signature: key.sign(v1) },
        ...(v2 ? [{ version: 2 as const, signature: key.sign(v2) }] : []),
      ],
    }),
  };
}

test.each(SIGNING_VECTORS)('$title', (vector) => {
  const { title, sentences, seed, internId, subject, now, nonce, requestBase64, ...expected } = vector;
  expect(sign(vector)).toEqual(expected);
});
