import { setTimeout as pause } from 'node:timers/promises';
import { createNonce } from '@ori/proof/signing';
import { issuedKey, issuedValue, redisReplayStore } from '@ori/verifier/redis';
import { Redis } from 'ioredis';
import { startRedis } from '../../../env/redis.ts';
import type { NoncesOrder } from '../memory/nonces.ts';
import { startWorker } from '../processes.ts';
import type { Bench, Finding, Mark, Row } from '../row.ts';

/** Twelve characters. */
const INTERN_ID = 'int_7Qm2Vb9x';
const POLICY = { internId: INTERN_ID, maxAgeSeconds: 600, clockToleranceSeconds: 2, acceptV1: false };

/** The memory that a spent nonce uses while it must be remembered. */
export const noncesRow: Row = {
  name: 'nonces',
  async run(bench) {
    const counts = bench.isQuick ? [2000] : [100_000, 150_000, 200_000, 250_000, 300_000, 400_000];
    const memory: number[] = [];
    const redis: number[] = [];
    const reserved: number[] = [];
    for (const nonces of counts) {
      bench.progress(`${nonces} nonces`);
      await using worker = startWorker<NoncesOrder, { each: number }>('memory/nonces.ts', 'servers');
      memory.push((await worker.ask({ nonces, internId: INTERN_ID })).each);
      const inRedis = await bytesInRedis(bench, nonces);
      redis.push(inRedis.spent);
      reserved.push(inRedis.reserved);
    }
    const finding = (title: string, name: string, rounds: number[], mark?: Mark): Finding => ({
      title,
      unit: 'bytes',
      ours: { name, rounds },
      ...(mark && { mark }),
    });
    return [
      finding('a spent nonce in memory', 'memory store', memory, { atMost: 160 }),
      finding('a spent nonce in Redis', 'Redis store', redis, { atMost: 140 }),
      finding('a reserved nonce in Redis', 'signer', reserved),
    ];
  },
};

/** As MEMORY USAGE reports: the intern's sorted set of spent nonces, and the signer's reservation keys. */
async function bytesInRedis(bench: Bench, nonces: number): Promise<{ spent: number; reserved: number }> {
  await using server = await startRedis();
  const redis = new Redis(server.url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    lazyConnect: true,
  });
  await redis.connect();
  const store = redisReplayStore(redis, { mode: 'spend', timeoutMs: 5000 });
  try {
    store.attach(POLICY);
    await store.touch();
    const nowMs = Date.now();
    // After the fence that the first touch wrote, but within the clock tolerance.
    const timestamp = Math.ceil(nowMs / 1000) + POLICY.clockToleranceSeconds + 1;
    await pause((timestamp - POLICY.clockToleranceSeconds) * 1000 + 50 - nowMs);
    for (let done = 0; done < nonces; done += 500) {
      if (done % 50_000 === 0) bench.progress(`${done} of ${nonces} nonces in Redis`);
      const spends = Array.from({ length: 500 }, () =>
        store.spend({
          policy: POLICY,
          timestamp,
          nowMs: Date.now(),
          nonce: createNonce(),
          signingInput: new Uint8Array(),
          v1Id: () => '00'.repeat(32),
        }),
      );
      await Promise.all(spends);
    }
    const [key = ''] = await redis.keys('*');
    // The set also contains the fence.
    if ((await redis.zcount(key, 0, '+inf')) !== nonces) throw new Error('some nonces are missing');
    const spent = Number(await redis.memory('USAGE', key, 'SAMPLES', 0)) / nonces;
    const reservation = issuedKey(INTERN_ID, createNonce());
    await redis.set(reservation, issuedValue(new Uint8Array()), 'PX', 65_000, 'NX');
    return { spent, reserved: Number(await redis.memory('USAGE', reservation)) };
  } finally {
    store.close();
    redis.disconnect();
  }
}
