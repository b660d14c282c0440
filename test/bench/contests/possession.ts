import { createPublicKey, type JsonWebKey, randomBytes, verify } from 'node:crypto';
import { createDpopNonces, createPossession } from '@ori/dpop';
import { createDpopKey, type DpopKey } from '../../env/dpop.ts';
import type { Contestant, Contestants } from '../contest.ts';
import { requireRefusal } from './proofs.ts';

const TARGET = { origin: 'https://api.example', path: '/v1/interns/int_7Qm2bench/daemon/sign' };
const URL = TARGET.origin + TARGET.path;
const ACCESS_TOKEN = randomBytes(600).toString('base64url');

/** Verifies a DPoP proof with a nonce, by a key seen before, against `crypto.verify` of the same bytes. */
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
  const nonces = createDpopNonces(() => [secret], Date.now);
  const seen = new Set<string>();
  const possession = createPossession({
    nonces,
    // Replay protection is measured by the row of the whole service.
    spent: { spend: (id) => seen.size < seen.add(id).size },
    requireNonce: true,
    now: Date.now,
  });
  const prove = (proof: string, method = 'POST') =>
    possession.prove(key.thumbprint, { ...TARGET, method, proofs: [proof], accessToken: ACCESS_TOKEN });
  const sign = () => key.proof({ url: URL, accessToken: ACCESS_TOKEN, nonce: nonces.current() });
  return {
    async prepare(count) {
      seen.clear();
      const proofs = await Promise.all(Array.from({ length: count }, sign));
      return async () => {
        for (const proof of proofs) await prove(proof);
      };
    },
    async check() {
      const proof = await sign();
      await prove(proof);
      await requireRefusal(() => prove(proof));
      const other = await sign();
      await requireRefusal(() => prove(other, 'GET'));
      await requireRefusal(() => prove(`${other.slice(0, -8)}AAAAAAAA`));
    },
  };
}

async function openVerify(algorithm: Algorithm): Promise<Contestant> {
  const key = await createDpopKey(algorithm);
  const verifying = {
    key: createPublicKey({ key: key.publicJwk as JsonWebKey, format: 'jwk' }),
    dsaEncoding: 'ieee-p1363',
  } as const;
  const isGood = ({ input, signature }: Signed) =>
    verify(algorithm === 'ES256' ? 'sha256' : null, input, verifying, signature);
  return {
    async prepare(count) {
      const proofs = await Promise.all(Array.from({ length: count }, () => signed(key)));
      return async () => {
        for (const proof of proofs) if (!isGood(proof)) throw new Error('a valid signature was refused');
      };
    },
    async check() {
      const proof = await signed(key);
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

async function signed(key: DpopKey): Promise<Signed> {
  const proof = await key.proof({ url: URL, accessToken: ACCESS_TOKEN, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' });
  const end = proof.lastIndexOf('.');
  return {
    input: Buffer.from(proof.slice(0, end)),
    signature: Buffer.from(proof.slice(end + 1), 'base64url'),
  };
}
