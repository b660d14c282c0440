import { afterAll, expect, it } from 'vitest';
import { openSignedInWorld } from '../../e2e/cli-world.ts';
import { createRandom } from '../../lab/exactly-once/random.ts';
import {
  counted,
  makeCalls,
  ON_ANSWERS,
  ON_QUESTIONS,
  startHostileServer,
  startPrograms,
  startProvingDaemon,
} from './hostile-server.ts';

const CALLS = Number(process.env['CALLS'] ?? 60);
const SEED = process.env['SEED'] ?? 'hostile to proofs';
const LANES = 16;
const { world, home } = await openSignedInWorld();
const daemon = await startProvingDaemon(world);
const hostile = await startHostileServer(daemon.url, createRandom(SEED), (_n, isQuestion, random) =>
  random.chance(isQuestion ? 0.5 : 0.25)
    ? undefined
    : random.pick(Object.keys(isQuestion ? ON_QUESTIONS : ON_ANSWERS)),
);
const programs = await startPrograms(home, hostile.url);
afterAll(async () => {
  for (const one of [programs, hostile, daemon]) await one[Symbol.asyncDispose]();
});

it(`of ${CALLS} calls through a hostile server, none is carried out twice, and each answer that is given is the daemon's`, {
  timeout: 7_200_000,
}, async () => {
  const ends = await makeCalls(CALLS, LANES, programs, daemon, hostile);
  const rows = ends.map(({ program, end, times }) => `${program}: ${end}, carried out ${times}`);
  const untouched = CALLS - hostile.touched.size;
  console.log(`SEED=${SEED}`, Object.fromEntries([...hostile.deeds].sort()), counted(rows), { untouched });
  expect(ends.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
});
