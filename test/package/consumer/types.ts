// Compiled, not run: code that a daemon's author writes against the installed declarations.
import { createServer } from 'node:http';
import {
  createLocalKeySet,
  createRemoteKeySet,
  createVerifier,
  memoryReplayStore,
  ProofError,
  type ProofErrorCode,
  type VerifiedProof,
} from '@ori/verifier';
import { provenOf, requireProof } from '@ori/verifier/express';
import { requireProof as requireFetchProof } from '@ori/verifier/fetch';
import { requireProof as requireNodeProof } from '@ori/verifier/node';
import { postgresReplayStore } from '@ori/verifier/postgres';
import { POSTGRES_REPLAY_SQL } from '@ori/verifier/postgres/schema';
import { redisReplayStore } from '@ori/verifier/redis';
import { createTestReplayStore, createTestSigner } from '@ori/verifier/testing';
import express from 'express';
import { Cluster, Redis } from 'ioredis';
import pg from 'pg';

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json', {
  freshSeconds: 30,
});
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });

const app = express();
app.post(
  '/api/invoke',
  requireProof(verifier, { bodyBytesMax: 1_000_000 }, (req, res, { proof, body }) => {
    res.json({ user: proof.user, bytes: body.byteLength, query: req.query });
  }),
);
app.post('/api/other', requireProof(verifier, { bodyBytesMax: 1_000_000 }), (req, res) => {
  res.json({ user: provenOf(req).proof.user });
});
app.post('/api/open', (req, res) => {
  // @ts-expect-error a route that is not guarded has no proof
  res.json({ user: req.proof.user });
});

createServer(
  requireNodeProof(verifier, { bodyBytesMax: 1_000_000 }, (_req, res, { proof }) => res.end(proof.user)),
);
createServer(async (req) => {
  const { method, url: target, rawHeaders } = req;
  const open = verifier.begin({ method, target, rawHeaders });
  for await (const chunk of req) open.update(chunk);
  const proof: VerifiedProof = await open.finish();
  return proof.issuedAt.toISOString() + (proof.nonce ?? '');
});

export const handle: (request: Request) => Promise<Response> = requireFetchProof(
  verifier,
  { bodyBytesMax: 1_000_000 },
  (_request, { proof, body }) => Response.json({ user: proof.user, bytes: body.byteLength }),
);

export const stores = [
  redisReplayStore(new Redis({ lazyConnect: true }), { mode: 'spend', replicas: 2 }),
  redisReplayStore(new Cluster([]), { mode: 'redeem' }),
  postgresReplayStore(new pg.Pool({ connectionTimeoutMillis: 1000 }), { replicas: 0 }),
];

export const installed = (): Promise<unknown> => new pg.Client().query(POSTGRES_REPLAY_SQL);

const signer = createTestSigner({ internId: 'int_test' });
export const tested = createVerifier({
  internId: 'int_test',
  keys: createLocalKeySet(signer.jwks),
  replay: createTestReplayStore(),
});

export function codeOf(error: unknown): ProofErrorCode | undefined {
  return error instanceof ProofError ? error.code : undefined;
}

// @ts-expect-error a text body is not the signed bytes
void verifier.verify({ method: 'POST', target: '/', rawHeaders: [], body: '{}' });
// @ts-expect-error joined headers hide duplicates
void verifier.verify({ method: 'POST', target: '/', rawHeaders: { host: 'a' }, body: new Uint8Array() });
// @ts-expect-error the mode must be chosen
redisReplayStore(new Redis(), {});
// @ts-expect-error the number of standbys is required
postgresReplayStore(new pg.Pool(), {});
