import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { sharedRedisUrl } from '../../../test/env/redis.ts';
import { connect, daemonOn, reserve } from '../../../test/verifier/redis-world.ts';
import type { SpenderReport, SpenderTask } from '../../../test/verifier/spender.ts';

const SPENDER = fileURLToPath(new URL('../../../test/verifier/spender.ts', import.meta.url));
const PROCESSES = 4;
const COPIES = 1000;

/** Four processes, each of which presents the same proof 1,000 times at once; what all of them were told. */
async function presentEverywhere(task: SpenderTask): Promise<SpenderReport> {
  const children = Array.from({ length: PROCESSES }, () => fork(SPENDER, { stdio: 'inherit' }));
  onTestFinished(() => {
    for (const child of children) child.kill();
  });
  const ready = children.map((child) => once(child, 'message'));
  for (const child of children) child.send(task);
  await Promise.all(ready);
  const reports = children.map(async (child) => (await once(child, 'message'))[0] as SpenderReport);
  for (const child of children) child.send('go');
  const total: SpenderReport = {};
  for (const report of await Promise.all(reports)) {
    for (const [verdict, count] of Object.entries(report)) total[verdict] = (total[verdict] ?? 0) + count;
  }
  return total;
}

test.each(['spend', 'redeem'] as const)(
  '4 processes that present the same proof 1,000 times each against one Redis are told once that it is good: %s',
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

test('4 processes refuse a correctly signed proof whose nonce was never issued, each time', async () => {
  const url = sharedRedisUrl();
  const { internId, request, signer } = await daemonOn(await connect(url));
  const signed = request();
  const verdicts = await presentEverywhere({
    url,
    internId,
    mode: 'redeem',
    jwks: signer.jwks,
    target: signed.target ?? '',
    rawHeaders: [...signed.rawHeaders],
    body: Buffer.from(signed.body).toString(),
    copies: COPIES,
  });
  console.log('never issued', verdicts);
  expect(verdicts).toEqual({ nonce_not_issued: PROCESSES * COPIES });
});
