import { createHash } from 'node:crypto';
import { renderProofHeaders, signingInputV1, signingInputV2 } from '@ori/proof';
import { createNonce, createSigningKey } from '@ori/proof/signing';
import { createLocalKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { residentBytes } from '../memory-process.ts';
import { answer } from './answer.ts';

// Bodies in chunks of 64 KiB: time and memory of the verifier, and of SHA-256 alone.

export interface StreamOrder {
  readonly by: 'verifier' | 'sha256';
  readonly bytes: number;
}

export interface StreamAnswer {
  readonly megabytesPerCpuSecond: number;
  /** The largest growth of resident memory. */
  readonly grewBytes: number;
}

const CHUNK = Buffer.alloc(65_536, 'ori daemon proof ');
const INTERN_ID = 'int_7Qm2bench';
const PATH = '/api/upload';
const key = createSigningKey(crypto.getRandomValues(new Uint8Array(32)));
const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key.publicKey).toString('base64url') };
let aheadMs = 0;
const now = () => Date.now() + aheadMs;
const verifier = createVerifier({
  internId: INTERN_ID,
  keys: createLocalKeySet({ keys: [{ ...jwk, use: 'sig', kid: key.kid }] }),
  replay: memoryReplayStore({ now }),
  now,
});
// After the fence of a new store.
aheadMs = 10_000;
const digests = new Map<number, string>();

answer<StreamOrder>(async ({ by, bytes }) => {
  const chunks = bytes / CHUNK.length;
  const expected = digestOf(bytes);
  const rawHeaders = headersFor(expected);
  globalThis.gc?.();
  const residentBefore = residentBytes(process.pid);
  let most = residentBefore;
  const look = (index: number) => {
    if (index % 256 === 0) most = Math.max(most, residentBytes(process.pid));
  };
  const before = process.cpuUsage();
  if (by === 'verifier') {
    const open = verifier.begin({ method: 'POST', target: PATH, rawHeaders });
    for (let index = 0; index < chunks; index++, look(index)) open.update(CHUNK);
    const { user } = await open.finish();
    if (user !== 'ada') throw new Error('verified as another user');
  } else {
    const sha256 = createHash('sha256');
    for (let index = 0; index < chunks; index++, look(index)) sha256.update(CHUNK);
    if (sha256.digest('hex') !== expected) throw new Error('another digest');
  }
  const { user, system } = process.cpuUsage(before);
  const measured: StreamAnswer = {
    megabytesPerCpuSecond: bytes / (user + system),
    grewBytes: Math.max(most, residentBytes(process.pid)) - residentBefore,
  };
  return measured;
});

/** A body of this many bytes, created once. */
function digestOf(bytes: number): string {
  let digest = digests.get(bytes);
  if (digest === undefined) {
    const sha256 = createHash('sha256');
    for (let index = 0; index < bytes / CHUNK.length; index++) sha256.update(CHUNK);
    digest = sha256.digest('hex');
    digests.set(bytes, digest);
  }
  return digest;
}

function headersFor(bodySha256: string): string[] {
  const named = { internId: INTERN_ID, timestamp: Math.floor(now() / 1000), user: 'ada', bodySha256 };
  const nonce = createNonce();
  const v2 = { signature: key.sign(signingInputV2({ ...named, nonce, method: 'POST', path: PATH })), nonce };
  const headers = renderProofHeaders({ ...named, signatureV1: key.sign(signingInputV1(named)), v2 });
  return ['Content-Type', 'application/json', ...Object.entries(headers).flat()];
}
