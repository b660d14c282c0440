import { memorySpentProofs } from '@ori/identity/dpop/memory-spent-proofs';
import { capturedLog } from '@ori/test-env/captured-log';
import { createMemoryTurnLimiter } from '@ori/turns/memory';
import { expect, test } from 'vitest';
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
