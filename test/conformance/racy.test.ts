import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pythonWith } from '../wings/ports/open-ports.ts';
import { startKeyServer } from './daemon/key-server.ts';
import { runSuite, startedBy } from './daemon/suite.ts';
import { startDriver } from './driver.ts';
import { ask } from './judge.ts';
import { TRIALS } from './races.ts';

const WORKERS = fileURLToPath(new URL('daemon/racy-workers.mjs', import.meta.url));
const PYTHON = pythonWith('cryptography');
const CONFORM = fileURLToPath(new URL('../wings/ports/python/conform.py', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../../libs/public/python/src', import.meta.url));
/** The program of our package, whose store has no lock. */
const WITHOUT_LOCK = `
import contextlib, runpy, sys, types
sys.path.insert(0, ${JSON.stringify(PACKAGE)})
import ori_proof.memory
ori_proof.memory.threading = types.SimpleNamespace(Lock=contextlib.nullcontext)
runpy.run_path(${JSON.stringify(CONFORM)}, run_name="__main__")
`;

test.each([
  ['in two steps', ['N7']],
  ['at once', []],
])('bursts accuse a store that several processes ask %s: %j', async (how, accused) => {
  await using keyServer = await startKeyServer();
  const daemons = startedBy([process.execPath, WORKERS, how, '{intern}', '{jwks}'], keyServer, 'ignore');
  const options = { path: '/api/invoke', bodyBytesMax: 100_000, isFetch: false, only: 'bursts' };
  const outcomes = await runSuite(daemons, options, () => {});
  expect(outcomes.length).toBe(1);
  expect(outcomes.flatMap(({ difference, sentence }) => (difference ? [sentence] : []))).toEqual(accused);
});

test.skipIf(PYTHON === undefined)(
  'races accuse a store in Python that threads ask without a lock',
  async () => {
    const races = TRIALS.find(({ title }) => title.includes('races'));
    if (races === undefined) throw new Error('no races');
    await using driver = startDriver([PYTHON ?? '', '-c', WITHOUT_LOCK], 'ignore');
    expect((await ask(driver, races)).differences.length).toBeGreaterThan(0);
  },
);
