import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Action, describe } from './actions.ts';
import type { Configuration } from './configuration.ts';
import { CONFIGURATIONS } from './configurations.ts';
import { explore } from './explore.ts';
import { type Guard, MUTANTS } from './mutants.ts';
import { createProtocol, type Protocol } from './protocol.ts';
import { clear, type RealRedis, startRealRedis } from './real-redis.ts';
import { isReal, replay } from './replay.ts';

let server: RealRedis;
beforeAll(async () => {
  server = await startRealRedis();
});
afterAll(() => server[Symbol.asyncDispose]());

const names = Object.keys(MUTANTS) as Guard[];

test.each(names)('the model detects mutant %s, and its attack fails on the real code', async (name) => {
  const [where, caughtBy] = MUTANTS[name];
  const configuration: Configuration = CONFIGURATIONS[where];
  const model = createProtocol({ ...configuration, broken: new Set([name]) });
  const { states, violation } = explore(model);
  const trace = violation?.trace ?? [];
  const words = trace.map(describe).join(', ');
  process.stderr.write(`mutant ${name} | ${violation?.invariant} | ${states} | ${trace.length} | ${words}\n`);
  expect(violation?.invariant).toBe(caughtBy);

  if (configuration.servers > 1 || !trace.every(isReal)) return;
  const steps = await replay(configuration, server, (_, done) => trace[done]);
  await clear(server);
  expect(steps.map(({ action, real }) => [action, real])).toEqual(
    steps.map(({ action, model }) => [action, model]),
  );
  if (caughtBy === 'accepts-again') return;
  expect(verdictsOf(model, trace)).not.toEqual(steps.map(({ real }) => real));
});

/** The mutant's verdicts along its trace. */
function verdictsOf(model: Protocol, trace: readonly Action[]): (string | undefined)[] {
  let state = model.initial;
  return trace.map((action) => {
    const step = model.apply(state, action);
    state = step.state;
    return step.event.verdict;
  });
}
