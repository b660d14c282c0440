import { createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { memorySpentProofs } from '@ori/identity/dpop/memory-spent-proofs';
import { Secret } from '@ori/runtime/secret';
import { capturedLog } from '@ori/test-env/captured-log';
import { serve } from '@ori/test-env/serve';
import { createMemoryTurnLimiter } from '@ori/turns/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SignerConfig } from './config.ts';
import { connectDependencies, type Dependencies } from './dependencies.ts';
import { memoryNonces } from './effects/memory-nonces.ts';

const audit = {} as Dependencies['audit'];
const inMemory = {
  turns: createMemoryTurnLimiter({ turnsPerUser: 1, turnsPerOrganization: 1, windowSeconds: 60 }),
  nonces: memoryNonces(65),
  spentProofs: memorySpentProofs(),
};

test.each([
  ['redisUrl', { audit }],
  ['databaseUrl', { audit, ...inMemory }],
])('does not start without %s, nor without what replaces it', async (name, parts) => {
  const connecting = connectDependencies({} as SignerConfig, parts, capturedLog().log, () => undefined);
  await expect(connecting).rejects.toThrow(
    new TypeError(`startSigner: expected ${name}, or parts that replace it`),
  );
});

test('PostgreSQL has 400 ms to give a connection, and as long for each answer', async () => {
  const greeted = Promise.withResolvers<Buffer>();
  await using server = await serve(createServer((socket) => void socket.on('data', greeted.resolve)));
  const databaseUrl = new Secret(`postgres://u:p@${server.address}/db`);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  const config = { databaseUrl, databasePoolMax: 1 } as SignerConfig;
  const started = vi.fn();
  const starting = connectDependencies(config, { audit, ...inMemory }, capturedLog().log, () => undefined);
  void starting.finally(started);
  // The server itself ends a statement a little earlier, so that the connection is not lost.
  expect((await greeted.promise).toString()).toContain('\0statement_timeout\x00360\0');
  while (started.mock.calls.length === 0) await pass(1000);
  const { store, close } = await starting;
  const failed = vi.fn();
  const asking = store.ping().catch(failed);
  await pass(399);
  expect(failed).not.toHaveBeenCalled();
  await pass(1);
  expect(failed).toHaveBeenCalledOnce();
  await pass(1000);
  vi.useRealTimers();
  await asking;
  await close();
});
