import { sharedRedisUrl } from '@ori/test-env/redis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { installPython } from '../ports/python-environment.ts';
import { startLedgerServer } from '../postgres/world.ts';
import { runLanguages } from './run.ts';

vi.setConfig({ testTimeout: 120_000 });

const PYTHON = installPython();
const PLAN = { proofs: 40, python: PYTHON ?? '', driver: 'psycopg' } as const;

/** `main.ts` does it 20,000 times on each store, and kills the daemons. */
test.skipIf(PYTHON === undefined)(
  'daemons in TypeScript and Python accept a proof once, and give the answers that the others kept',
  async () => {
    const server = await startLedgerServer();
    onTestFinished(() => server[Symbol.asyncDispose]());
    const tallies = await Promise.all([
      runLanguages({ ...PLAN, store: 'redis', url: sharedRedisUrl(), mode: 'spend' }),
      runLanguages({ ...PLAN, store: 'redis', url: sharedRedisUrl(), mode: 'redeem' }),
      runLanguages({ ...PLAN, store: 'postgres', url: server.url, mode: 'spend' }),
    ]);
    // On a busy machine a store may not answer in time.
    for (const { twice, accepted, kept } of tallies) {
      expect([twice, kept.wrong]).toEqual([0, 0]);
      expect(accepted).toBeGreaterThan(20);
    }
    expect(tallies.reduce((sum, { kept }) => sum + kept.other, 0)).toBeGreaterThan(10);
  },
);
