import { randomBytes } from 'node:crypto';
import { connectRedis, type RedisClient } from '@ori/redis/connection';
import { Secret } from '@ori/runtime/secret';
import { createTurnLimiter } from '@ori/turns/limiter';
import { expect, onTestFinished } from 'vitest';
import { createLocalKeySet } from '../../../libs/public/verifier/src/keys/local.ts';
import { redisReplayStore } from '../../../libs/public/verifier/src/replay/redis/store.ts';
import type { SignedRequest } from '../../../libs/public/verifier/src/request.ts';
import { createTestSigner } from '../../../libs/public/verifier/src/testing/testing.ts';
import { createVerifier } from '../../../libs/public/verifier/src/verifier.ts';
import { redisNonces } from '../../../services/signer/src/effects/nonces.ts';

/** Generous, so that a busy machine does not count as a fault of the store. */
const PATIENT_MS = 2000;

/** The maximum duration of a failover. */
export const PATIENT = { timeout: 40_000, interval: 50 };

/** Holds that the proof of `request` is refused for good; until then a node that comes back may be the reason. */
export async function expectSpent({ present }: Parties, request: SignedRequest): Promise<void> {
  const verdicts: string[] = [];
  const presentAgain = async () => {
    verdicts.push(await present(request));
    return verdicts.at(-1);
  };
  await expect.poll(presentAgain, PATIENT).toMatch(/^(?:nonce_replayed|proof_before_fence)$/);
  expect(verdicts).not.toContain('accepted');
}

/** A daemon whose store waits for half of `replicas`, and a signer's adapters, on the Redis at this address. */
export function openParties(url: string, replicas: number) {
  const open = (): RedisClient => {
    const options = { purpose: 'test', commandTimeoutMs: PATIENT_MS, socketTimeoutMs: PATIENT_MS };
    const client = connectRedis(new Secret(url), options);
    client.on('error', () => {});
    onTestFinished(() => client.disconnect());
    return client;
  };
  const internId = `int_${randomBytes(8).toString('hex')}`;
  const signer = createTestSigner({ internId });
  const replay = redisReplayStore(open(), {
    mode: 'spend',
    replicas,
    timeoutMs: PATIENT_MS,
    touchSeconds: 0.5,
  });
  onTestFinished(() => replay.close());
  const verifier = createVerifier({
    internId,
    keys: createLocalKeySet(signer.jwks),
    replay,
    clockToleranceSeconds: 1,
  });
  const client = open();
  const limits = { turnsPerUser: 1000, turnsPerOrganization: 1000, windowSeconds: 600 };
  const verify = (request: SignedRequest) => verifier.verify(request);
  const present = (request: SignedRequest): Promise<string> =>
    verify(request).then(
      () => 'accepted',
      (error: { code?: string }) => error.code ?? String(error),
    );
  const request = () => signer.request({ path: '/api/invoke', body: '{}' });
  const nonces = redisNonces(client, 65);
  const turns = createTurnLimiter({ redis: client, ...limits });
  return {
    internId,
    nonces,
    /** Whether the signer can reserve a fresh nonce. */
    reserveFresh: () =>
      nonces
        .reserve({ internId, nonce: nonces.draw(), signingInput: Buffer.from('input') })
        .catch(() => 'unavailable'),
    /** Whether a turn is left, or why that is unknown. */
    takeTurn: () => turns.take({ userId: 'u', organizationId: 'o' }).then(({ allowed }) => allowed, String),
    request,
    /** Rejects with the refusal. */
    verify,
    /** `accepted` or the refusal code. */
    present,
    /** The verdict on a fresh proof. */
    presentFresh: () => present(request()),
  };
}

/** A daemon and a signer on one Redis, each with its own client. */
export type Parties = ReturnType<typeof openParties>;
