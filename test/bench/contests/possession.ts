import { KeyObject, randomBytes, sign, verify } from 'node:crypto';
import { ContentDigest, createDpopNonces, createPossession } from '@ori/identity/dpop';
import { createDpopKey } from '../../env/dpop.ts';
import { SIGN_BODY } from '../../env/world.ts';
import type { Contestant, Contestants } from '../contest.ts';
import { requireRefusal } from './proofs.ts';

const TARGET = { origin: 'https://api.example', path: '/v1/interns/int_7Qm2bench/daemon/sign' };
const URL = TARGET.origin + TARGET.path;
const ACCESS_TOKEN = randomBytes(600).toString('base64url');

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
    requireNonce: true,
    requireContent: true,
    now: Date.now,
  });
  const content = Buffer.from(SIGN_BODY);
  const prove = async (proof: string, method = 'POST') => {
    const request = { ...TARGET, method, proofs: [proof], accessToken: ACCESS_TOKEN };
    const verified = await possession.verify(key.thumbprint, request);
    const digest = new ContentDigest();
    digest.update(content);
    verified.requireContent(digest);
    await possession.spend(verified);
  };
  const proofNow = () => key.proof({ url: URL, accessToken: ACCESS_TOKEN, nonce: nonces.current(), content });
  return {
    async prepare(count) {
      seen.clear();
      const proofs = await Promise.all(Array.from({ length: count }, proofNow));
      return async () => {
        for (const proof of proofs) await prove(proof);
      };
    },
    async check() {
      const proof = await proofNow();
      await prove(proof);
      await requireRefusal(() => prove(proof));
      const other = await proofNow();
      await requireRefusal(() => prove(other, 'GET'));
      await requireRefusal(() => prove(`${other.slice(0, -8)}AAAAAAAA`));
    },
  };
}

async function openVerify(algorithm: Algorithm): Promise<Contestant> {
  const key = await createDpopKey(algorithm);
  const [publicKey, privateKey] = [KeyObject.from(key.publicKey), KeyObject.from(key.privateKey)];
  const digest = algorithm === 'ES256' ? 'sha256' : null;
  /** A bare key and a DER signature: options and the JWS signature form cost 15 µs each. */
  const isGood = ({ input, signature }: Signed) => verify(digest, input, publicKey, signature);
  const signed = async (): Promise<Signed> => {
    const proof = await key.proof({ url: URL, accessToken: ACCESS_TOKEN, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' });
    const input = Buffer.from(proof.slice(0, proof.lastIndexOf('.')));
    return { input, signature: sign(digest, input, privateKey) };
  };
  return {
    async prepare(count) {
      const proofs = await Promise.all(Array.from({ length: count }, signed));
      return async () => {
        for (const proof of proofs) if (!isGood(proof)) throw new Error('a valid signature was refused');
      };
    },
    async check() {
      const proof = await signed();
      if (!isGood(proof)) throw new Error('a valid signature was refused');
      if (isGood({ ...proof, input: Buffer.from('other') }))
        throw new Error('an invalid signature was accepted');
    },
  };
}

interface Signed {
  readonly input: Uint8Array;
  readonly signature: Uint8Array;
}
