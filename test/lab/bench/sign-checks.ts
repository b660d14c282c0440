import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { signingInputV1, signingInputV2 } from '@ori/proof';
import { BODY_SHA256, type World } from '../../env/world.ts';

/** @throws Error unless each response has both signatures over exactly the request, and every nonce is new */
export async function checkProofs(samples: readonly string[], world: World): Promise<void> {
  const key = publicKeyOf(world);
  const nonces = new Set<string>();
  for (const sample of requireSome(samples)) {
    const proof = bodyOf(sample);
    const text = (name: string) => proof[`x-ori-invoke-${name}`] ?? '';
    const nonce = text('nonce');
    const fields = {
      internId: world.demo.internId,
      timestamp: Number(text('timestamp')),
      user: 'ada',
      bodySha256: BODY_SHA256,
    };
    const v2 = signingInputV2({ ...fields, method: 'POST', path: '/api/invoke', nonce });
    const isGood =
      verify(null, signingInputV1(fields), key, Buffer.from(text('signature'), 'base64')) &&
      verify(null, v2, key, Buffer.from(text('signature-v2'), 'base64'));
    if (!isGood) throw new Error(`an invalid signature:\n${sample}`);
    nonces.add(nonce);
  }
  if (nonces.size !== samples.length) throw new Error('a repeated nonce');
}

function bodyOf(sample: string): Record<string, string> {
  return JSON.parse(sample.slice(sample.indexOf('\r\n\r\n') + 4));
}

function requireSome(samples: readonly string[]): readonly string[] {
  if (samples.length === 0) throw new Error('no answer was sampled');
  return samples;
}

function publicKeyOf(world: World): KeyObject {
  const x = Buffer.from(world.demo.publicKey).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}
