import { createServer } from 'node:http';
import { createLocalKeySet, createRemoteKeySet, createVerifier, PROOF_OUTCOMES } from '@ori/verifier';
import { requireProof } from '@ori/verifier/express';
import { redisReplayStore } from '@ori/verifier/redis';
import express from 'express';
import { Redis } from 'ioredis';
import { Counter, Registry } from 'prom-client';

/** A daemon as its author would write it: a process with metrics and a replay store in Redis. */
const { DAEMON_PORT, DAEMON_OPS_PORT, DAEMON_INTERN, DAEMON_JWKS_URL, DAEMON_REDIS_URL, DAEMON_LOCAL_KEYS } =
  process.env as Record<string, string>;

const registry = new Registry();
const proofs = new Counter({
  name: 'ori_proof_verifications_total',
  help: 'Verified requests by outcome.',
  labelNames: ['outcome'],
  registers: [registry],
});
for (const outcome of PROOF_OUTCOMES) proofs.inc({ outcome }, 0);

const redis = new Redis(DAEMON_REDIS_URL ?? '', {
  commandTimeout: 200,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
});
redis.on('error', () => {});
const jwksUrl = DAEMON_JWKS_URL ?? '';
const keys =
  DAEMON_LOCAL_KEYS === 'true'
    ? createLocalKeySet(await (await fetch(jwksUrl)).json())
    : createRemoteKeySet(jwksUrl);
const verifier = createVerifier({
  internId: DAEMON_INTERN ?? '',
  keys,
  replay: redisReplayStore(redis, { mode: 'redeem' }),
  onOutcome: ({ outcome }) => proofs.inc({ outcome }),
});

const app = express();
app.post(
  '/api/invoke',
  requireProof(verifier, { bodyBytesMax: 1_048_576 }, (_req, res, { proof, body }) => {
    res.json({ user: proof.user, body: String(body) });
  }),
);
app.listen(Number(DAEMON_PORT), '127.0.0.1');
createServer((_req, res) => {
  void registry.metrics().then((text) => res.setHeader('content-type', registry.contentType).end(text));
}).listen(Number(DAEMON_OPS_PORT), '127.0.0.1', () => console.log('ready'));
