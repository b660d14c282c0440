import { hash, KeyObject, randomBytes, sign, verify } from 'node:crypto';
import { createDpopNonces } from '@ori/identity/dpop/nonces';
import { createPossession } from '@ori/identity/dpop/possession';
import { createDpopKey } from '../../../env/dpop.ts';
import { SIGN_BODY } from '../../../env/world.ts';
import { type Contestant, type Contestants, judging } from '../contest.ts';

const TARGET = { origin: 'https://api.example', path: '/v1/interns/int_7Qm2bench/daemon/sign' };
const URL = TARGET.origin + TARGET.path;
const ACCESS_TOKEN = randomBytes(600).toString('base64url');
/** A request has it before: the token is looked up by it. */
const TOKEN_DIGEST = hash('sha256', ACCESS_TOKEN, 'base64url');

/** Verifies a DPoP proof with a nonce and a key seen before, against the cheapest `crypto.verify` of equally many bytes. */
export const CONTESTANTS: Contestants = {
  ES256: () => openPossession('ES256'),
  'verify ES256': () => openVerify('ES256'),
  Ed25519: () => openPossession('Ed25519'),
  'verify Ed25519': () => openVerify('Ed25519'),
};

type Algorithm = 'ES256' | 'Ed25519';

async function openPossession(algorithm: Algorithm): Promise<Contestant> {
  const key = await createDpopKey(algorithm);
  const secret = randomBytes(32);
  const nonces = createDpopNonces(
    () => [secret],
    Date.now,
    () => undefined,
  );
  const seen = new Set<string>();
  const possession = createPossession({
    nonces,
    // Replay protection is measured by the row for the whole service.
    spent: {
      epoch: () => '',
      async learn() {},
      spend: ({ id }) => (seen.size < seen.add(id).size ? 'spent' : 'replayed'),
    },
    requireContent: true,
    now: Date.now,
  });
  const content = Buffer.from(SIGN_BODY);
  return judging(
    async () => {
      const nonce = nonces.current();
      return {
        method: 'POST',
        proof: await key.proof({ url: URL, accessToken: ACCESS_TOKEN, nonce, content }),
      };
    },
    async ({ method, proof }) => {
      const request = { ...TARGET, method, proofs: [proof], tokenDigest: TOKEN_DIGEST };
      const verified = await possession.verify(key.thumbprint, request);
      verified.requireContent(content);
      await possession.spend(verified);
    },
    (accepted, { method, proof }) => [
      accepted,
      { method: 'GET', proof },
      { method, proof: `${proof.slice(0, -8)}AAAAAAAA` },
    ],
  );
}

async function openVerify(algorithm: Algorithm): Promise<Contestant> {
  const key = await createDpopKey(algorithm);
  const [publicKey, privateKey] = [KeyObject.from(key.publicKey), KeyObject.from(key.privateKey)];
  const digest = algorithm === 'ES256' ? 'sha256' : null;
  return judging(
    async () => {
      const proof = await key.proof({ url: URL, accessToken: ACCESS_TOKEN, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' });
      const input = Buffer.from(proof.slice(0, proof.lastIndexOf('.')));
      return { input, signature: sign(digest, input, privateKey) };
    },
    ({ input, signature }) => {
      // A bare key and a DER signature: options and the JWS signature form cost 15 µs each.
      if (!verify(digest, input, publicKey, signature)) throw new Error('a valid signature was refused');
    },
    (_, { signature }) => [{ signature, input: Buffer.from('other') }],
  );
}
