import { createHash } from 'node:crypto';
import { residentBytes } from '../../../env/peak-memory.ts';
import { answer } from '../../../env/worker.ts';
import { createProof, openVerifier, PATH } from '../proofs.ts';

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
const { verifier, now } = openVerifier();

answer<StreamOrder>(async ({ by, bytes }) => {
  const expected = digestOf(bytes);
  const { rawHeaders } = createProof(now(), expected);
  globalThis.gc?.();
  const residentBefore = residentBytes(process.pid);
  let most = residentBefore;
  const feed = (update: (chunk: Uint8Array) => unknown) => {
    for (let index = 0; index < bytes / CHUNK.length; index++) {
      update(CHUNK);
      if (index % 256 === 0) most = Math.max(most, residentBytes(process.pid));
    }
  };
  const before = process.cpuUsage();
  if (by === 'verifier') {
    const open = verifier.begin({ method: 'POST', target: PATH, rawHeaders });
    feed((chunk) => open.update(chunk));
    const { user } = await open.finish();
    if (user !== 'ada') throw new Error('verified as another user');
  } else {
    const sha256 = createHash('sha256');
    feed((chunk) => sha256.update(chunk));
    if (sha256.digest('hex') !== expected) throw new Error('another digest');
  }
  const { user, system } = process.cpuUsage(before);
  const measured: StreamAnswer = {
    megabytesPerCpuSecond: bytes / (user + system),
    grewBytes: Math.max(most, residentBytes(process.pid)) - residentBefore,
  };
  return measured;
});

function digestOf(bytes: number): string {
  const sha256 = createHash('sha256');
  for (let index = 0; index < bytes / CHUNK.length; index++) sha256.update(CHUNK);
  return sha256.digest('hex');
}
