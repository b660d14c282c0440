import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLoad } from '../shipped/constant-load.ts';
import { expectEveryCheckBehind, turnsCharged } from './gate-kept.ts';
import { CELLS, type Cell } from './matrix-cells.ts';
import { type Observed, undeserved } from './matrix-rows.ts';
import { type Answered, managementShapes, type Shape, signerShapes } from './matrix-shapes.ts';
import { type MatrixWorld, startMatrixWorld } from './matrix-world.ts';

// Breaks each dependency of both services in each way, under load.
// Shorter than the time for which an opaque token is cached.
const FAULT_MS = 700;
/** The signer may use cached facts for one second. */
const DATABASE_FAULT_MS = 1700;
const PER_SECOND = 8;
const BOTH = new Set(['PostgreSQL', 'issuer']);

let on: MatrixWorld;

beforeAll(async () => {
  on = await startMatrixWorld();
});
afterAll(() => on[Symbol.asyncDispose]());

test.each(CELLS.map((cell) => ({ cell, name: `${cell.dependency} ${cell.fault}` })))(
  '$name: correct and timely answers, no bypass of the gate, and recovery without a restart',
  async ({ cell }) => {
    const pids = [on.world.signer.pid, on.managementPid];
    const ofSigner = await signerShapes(on);
    const ofManagement = BOTH.has(cell.dependency) ? await managementShapes(on) : [];
    const before = await contentOf(ofManagement);
    const chargedBefore = cell.forgets ? undefined : await turnsCharged(on);

    const observed = await underLoad(cell, [...ofSigner, ...ofManagement]);
    const signer = answersTo(ofSigner, observed);
    const management = answersTo(ofManagement, observed);
    expect(undeserved(cell, ofSigner, signer)).toEqual([]);
    expect(undeserved(cell, ofManagement, management)).toEqual([]);
    await expectEveryCheckBehind(on, signer.answers, chargedBefore);
    for (const { shape, reply } of management.answers) {
      if (reply.status === 200) expect(reply.text).toBe(before.get(shape));
    }
    expect([on.world.signer.pid, on.managementPid]).toEqual(pids);
  },
  60_000,
);

/** Breaks and repairs under requests of every kind, then continues until each is answered normally. */
async function underLoad(cell: Cell, shapes: readonly Shape[]): Promise<Observed> {
  const times = { brokenAt: 0, mendingAt: 0 };
  const load = startLoad(PER_SECOND, () => Promise.all(shapes.map(answerTo)));
  const forMs = cell.dependency === 'PostgreSQL' ? DATABASE_FAULT_MS : FAULT_MS;
  const broken = () => {
    times.brokenAt = performance.now();
  };
  const mending = () => {
    times.mendingAt = performance.now();
  };
  await cell.run(on, forMs, broken, mending);
  const late: Answered[] = [];
  const waitFor = async (shape: Shape) => {
    for (;;) {
      const answered = await answerTo(shape);
      late.push(answered);
      if (answered.reply.status === shape.well) return;
      await pause(20);
    }
  };
  await Promise.all(shapes.map(waitFor));
  const rounds = await load.end();
  const [unanswered] = rounds.filter(({ status }) => status === 'rejected');
  expect(unanswered).toBeUndefined();
  const during = rounds.flatMap((round) => (round.status === 'fulfilled' ? round.value : []));
  return { answers: [...during, ...late], ...times };
}

async function answerTo({ name, ask }: Shape): Promise<Answered> {
  const startedAt = performance.now();
  const reply = await ask();
  return { shape: name, reply, startedAt, endedAt: performance.now() };
}

function answersTo(shapes: readonly Shape[], observed: Observed): Observed {
  const names = new Set(shapes.map(({ name }) => name));
  return { ...observed, answers: observed.answers.filter(({ shape }) => names.has(shape)) };
}

/** The response texts of the requests that get a 200 while nothing is broken. */
async function contentOf(shapes: readonly Shape[]): Promise<Map<string, string>> {
  const read = shapes.filter(({ well }) => well === 200);
  const texts = read.map(async ({ name, ask }) => [name, (await ask()).text] as const);
  return new Map(await Promise.all(texts));
}
