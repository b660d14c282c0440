import { expect, onTestFinished, test } from 'vitest';
import { type SentinelPair, startSentinelPair } from '../../env/redis-sentinel.ts';
import { expectSpent, openParties, PATIENT } from './redis-topologies.ts';

async function startPair(): Promise<SentinelPair> {
  const pair = await startSentinelPair();
  onTestFinished(() => pair[Symbol.asyncDispose]());
  return pair;
}

test('across a Sentinel failover, no proof is accepted twice, and daemon and signer continue on the new primary', async () => {
  const pair = await startPair();
  const parties = openParties(pair.url, 1);
  const { request, present, presentFresh, nonces, internId, reserveFresh, takeTurn } = parties;
  let signed = request();
  // At first the replica may be in time for one spend and too late for the next.
  const presentAnother = () => {
    signed = request();
    return present(signed);
  };
  await expect.poll(presentAnother, PATIENT).toBe('accepted');
  // The signer has connections of its own.
  await expect.poll(reserveFresh, PATIENT).toBe(true);
  await expect.poll(takeTurn, PATIENT).toBe(true);
  const reservation = { internId, nonce: nonces.draw(), signingInput: Buffer.from('input') };
  expect(await nonces.reserve(reservation)).toBe(true);
  expect(await nonces.reserve(reservation)).toBe(false);
  expect(await takeTurn()).toBe(true);

  const former = await pair.primary();
  await former.kill();
  await pair.failedOver(former);
  await expect.poll(reserveFresh, PATIENT).toBe(true);
  await expect.poll(takeTurn, PATIENT).toBe(true);
  // The new primary has no replica yet, so it accepts neither old nor new proofs.
  expect(await presentFresh()).toMatch(/^replay_store_/);

  await pair.rejoin(former);
  await expect.poll(presentFresh, PATIENT).toBe('accepted');
  await expectSpent(parties, signed);
}, 90_000);

test('a spend that the only replica of a Sentinel pair has not acknowledged is refused, and stays spent', async () => {
  const pair = await startPair();
  const parties = openParties(pair.url, 1);
  const { request, verify, presentFresh } = parties;
  const primary = await pair.primary();
  const replica = pair.servers.find((server) => server !== primary);
  let signed = request();
  const refusals: string[] = [];
  // On a busy machine the store may find the replica late before it spends anything: that proves nothing here.
  const presentWhileFrozen = async () => {
    await expect.poll(presentFresh, PATIENT).toBe('accepted');
    await replica?.freeze();
    signed = request();
    refusals.push(await verify(signed).then(() => 'accepted', String));
    await replica?.thaw();
    return refusals.at(-1);
  };
  await expect.poll(presentWhileFrozen, PATIENT).toMatch(/too few replicas acknowledged the spend/);
  expect(refusals).not.toContain('accepted');
  await expect.poll(presentFresh, PATIENT).toBe('accepted');
  await expectSpent(parties, signed);
}, 90_000);
