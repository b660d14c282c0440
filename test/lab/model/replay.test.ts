import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../exactly-once/random.ts';
import { CONFIGURATIONS } from './configurations.ts';
import { clear, type RealRedis, startRealRedis } from './real-redis.ts';
import { replay, wander } from './replay.ts';

const WALKS = 12;
const STEPS = 30;

let server: RealRedis;
beforeAll(async () => {
  server = await startRealRedis();
});
afterAll(() => server[Symbol.asyncDispose]());

const ONE_SERVER = Object.entries(CONFIGURATIONS).filter(([, { servers }]) => servers === 1);

test.each(ONE_SERVER)('%s: the real verifier’s verdicts equal the model’s', async (name, configuration) => {
  const verdicts: Record<string, number> = {};
  for (let walk = 0; walk < WALKS; walk += 1) {
    const random = createRandom(`${name}/${walk}`);
    const steps = await replay(
      { ...configuration, faultsMax: configuration.faultsMax * 2 },
      server,
      wander(random, STEPS),
    );
    for (const { model } of steps) if (model) verdicts[model] = (verdicts[model] ?? 0) + 1;
    expect(steps.map(({ action, real }) => [action, real])).toEqual(
      steps.map(({ action, model }) => [action, model]),
    );
    await clear(server);
  }
  expect(verdicts['accepted']).toBeGreaterThan(0);
  process.stderr.write(`model ${name}: ${WALKS} walks, ${JSON.stringify(verdicts)}\n`);
});
