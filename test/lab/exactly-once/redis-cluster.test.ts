import { issuedKey, spentKey } from '@ori/verifier/redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClusterNode, type RedisCluster, startRedisCluster } from '../../env/redis-cluster.ts';
import { expectSpent, openParties, PATIENT } from './redis-topologies.ts';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster({ replicas: 1 });
}, 90_000);
afterAll(() => cluster[Symbol.asyncDispose]());

async function replicaOf({ admin }: ClusterNode): Promise<ClusterNode> {
  const port = Number(/slave0:ip=[^,]*,port=(\d+)/.exec(await admin.info('replication'))?.[1]);
  const node = cluster.nodes.find(({ server }) => server.port === port);
  if (!node) throw new Error('no replica');
  return node;
}

test('on a Cluster of 3 with replicas, a spend counts only once a replica has it', async () => {
  const { request, present, presentFresh, internId } = openParties(cluster.url, 1);
  await expect.poll(presentFresh, PATIENT).toBe('accepted');
  const owner = await cluster.ownerOf(spentKey(internId));
  const replica = await replicaOf(owner);
  const signed = request();
  expect(await present(signed)).toBe('accepted');
  const spent = await owner.admin.zcount(spentKey(internId), 0, '+inf');
  await replica.admin.readonly();
  expect(await replica.admin.zcount(spentKey(internId), 0, '+inf')).toBe(spent);
  expect(await present(signed)).toBe('nonce_replayed');
}, 90_000);

test('when a Cluster node is lost, no proof is accepted twice, and daemon and signer continue', async () => {
  const parties = openParties(cluster.url, 1);
  const { request, present, presentFresh, nonces, internId, reserveFresh, takeTurn } = parties;
  let signed = request();
  // Right after a change of the cluster a replica may be too late for one spend and in time for the next.
  const presentAnother = () => {
    signed = request();
    return present(signed);
  };
  await expect.poll(presentAnother, PATIENT).toBe('accepted');
  const reservation = { internId, nonce: nonces.draw(), signingInput: Buffer.from('input') };
  expect(await nonces.reserve(reservation)).toBe(true);

  const key = spentKey(internId);
  const lost = await cluster.ownerOf(key);
  expect(lost).toBe(await cluster.ownerOf(issuedKey(internId, reservation.nonce)));
  await lost.server.kill();
  await expect.poll(reserveFresh, PATIENT).toBe(true);
  await expect.poll(takeTurn, PATIENT).toBe(true);
  expect(await present(signed)).not.toBe('accepted');

  await lost.server.start();
  await cluster.whole();
  await expect.poll(presentFresh, PATIENT).toBe('accepted');
  await expectSpent(parties, signed);
}, 120_000);
