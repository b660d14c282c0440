import { sharedRedisUrl } from '@ori/test-env/redis';
import { COPIES, PROCESSES, presentEverywhere } from '@ori/test-env/verifier/present-everywhere';
import { connect, daemonOn, reserve } from '@ori/test-env/verifier/redis-world';
import { expect, test } from 'vitest';

test.each(['spend', 'redeem'] as const)(
  '4 processes that present the same proof 1,000 times each to one Redis get it accepted once: %s',
  async (mode) => {
    const url = sharedRedisUrl();
    const redis = await connect(url);
    const { internId, request, signer } = await daemonOn(redis);
    const signed = request();
    if (mode === 'redeem') await reserve(redis, internId, signed);
    const task = {
      url,
      internId,
      mode,
      jwks: signer.jwks,
      target: signed.target ?? '',
      rawHeaders: [...signed.rawHeaders],
      body: Buffer.from(signed.body).toString(),
      copies: COPIES,
    };
    const verdicts = await presentEverywhere(task);
    console.log(mode, verdicts);
    expect(verdicts).toEqual({ accepted: 1, nonce_replayed: PROCESSES * COPIES - 1 });
  },
);
