import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderTable } from '../env/text-table.ts';
import { expectEveryCheckBehind, turnsCharged } from './gate-kept.ts';
import { type Answered, type Shape, startLoad } from './load.ts';
import { CELLS, type Cell } from './matrix-cells.ts';
import { type Observed, summary, undeserved } from './matrix-rows.ts';
import { managementShapes, signerShapes } from './matrix-shapes.ts';
import { type MatrixWorld, startMatrixWorld } from './matrix-world.ts';

// Breaks each dependency of both services in each way, under load. `FAULT_MATRIX=full` breaks each for longer, sends more and
// also asserts response times; use it on an otherwise idle machine.
const FULL = process.env['FAULT_MATRIX'] === 'full';
// Shorter than the time for which an opaque token is cached.
const FAULT_MS = FULL ? 4000 : 700;
/** The signer may use cached facts for one second. */
const DATABASE_FAULT_MS = FULL ? 6000 : 1700;
const EVERY_MS = FULL ? 30 : 60;
const COOL_DOWN_SECONDS = 1;
const ANSWER_MS_MAX = FULL ? 1000 : 20_000;
const RECOVERY_MS_MAX = FULL ? 1000 : 20_000;
const BOTH = new Set(['PostgreSQL', 'issuer']);

let on: MatrixWorld;
const HEAD = ['dependency', 'fault', 'service', 'answers', 'worst answer', 'well again after'];
const table: string[][] = [HEAD];

beforeAll(async () => {
  on = await startMatrixWorld();
});
afterAll(async () => {
  console.log(`What both services answer under load, by dependency and fault:\n${renderTable(table)}`);
  await on[Symbol.asyncDispose]();
});

test.each(CELLS.map((cell) => ({ cell, name: `${cell.dependency} ${cell.fault}` })))(
  '$name: correct and timely answers, no bypass of the gate, and recovery without a restart',
  async ({ cell }) => {
    const pids = [on.world.signer.pid, on.management.pid];
    const ofSigner = await signerShapes(on);
    const ofManagement = BOTH.has(cell.dependency) ? await managementShapes(on) : [];
    const before = await contentOf(ofManagement);
    const chargedBefore = cell.forgets ? undefined : await turnsCharged(on);

    const { observed, recoveredMs } = await underLoad(cell, [...ofSigner, ...ofManagement]);
    const signer = answersTo(ofSigner, observed);
    const management = answersTo(ofManagement, observed);
    note(cell, 'signer', signer, recoveredMs(ofSigner));
    if (ofManagement.length > 0) note(cell, 'management', management, recoveredMs(ofManagement));

    expect(undeserved(cell, ofSigner, signer)).toEqual([]);
    expect(undeserved(cell, ofManagement, management)).toEqual([]);
    await expectEveryCheckBehind(on, signer.answers, chargedBefore);
    for (const { shape, reply } of management.answers) {
      if (reply.status === 200) expect(reply.text).toBe(before.get(shape));
    }
    expect(worst(observed)?.reply.milliseconds).toBeLessThan(ANSWER_MS_MAX);
    expect(recoveredMs([...ofSigner, ...ofManagement])).toBeLessThan(RECOVERY_MS_MAX);
    expect([on.world.signer.pid, on.management.pid]).toEqual(pids);
  },
  60_000,
);

/** Breaks and repairs under requests of every kind, then continues until each is answered normally. */
async function underLoad(cell: Cell, shapes: readonly Shape[]) {
  const times = { brokenAt: 0, mendingAt: 0 };
  const load = startLoad(shapes, EVERY_MS);
  const forMs = cell.dependency === 'PostgreSQL' ? DATABASE_FAULT_MS : FAULT_MS;
  const broken = () => {
    times.brokenAt = performance.now();
  };
  const mending = () => {
    times.mendingAt = performance.now();
  };
  await cell.run(on, forMs, broken, mending);
  const mendedAt = performance.now();
  const wellAt = new Map<Shape, number>();
  const late: Answered[] = [];
  const waitFor = async (shape: Shape) => {
    for (;;) {
      const startedAt = performance.now();
      const reply = await shape.ask();
      const endedAt = performance.now();
      late.push({ shape: shape.name, reply, startedAt, endedAt });
      if (reply.status === shape.well) return void wellAt.set(shape, endedAt - mendedAt);
      await pause(20);
    }
  };
  await Promise.all(shapes.map(waitFor));
  const observed: Observed = { answers: [...(await load.end()), ...late], ...times };
  return {
    observed,
    /** An unknown key also has to wait for the cool-down. */
    recoveredMs: (some: readonly Shape[]) =>
      Math.max(
        ...some.map(
          (shape) =>
            (wellAt.get(shape) ?? 0) - (shape.name === 'JWT, unknown key' ? COOL_DOWN_SECONDS * 1000 : 0),
        ),
      ),
  };
}

function answersTo(shapes: readonly Shape[], observed: Observed): Observed {
  const names = new Set(shapes.map(({ name }) => name));
  return { ...observed, answers: observed.answers.filter(({ shape }) => names.has(shape)) };
}

function worst({ answers }: Observed): Answered | undefined {
  return [...answers].sort((a, b) => b.reply.milliseconds - a.reply.milliseconds)[0];
}

function note({ dependency, fault }: Cell, service: string, observed: Observed, recoveredMs: number): void {
  const slowest = worst(observed);
  const longest = `${slowest?.reply.milliseconds.toFixed(0)} ms (${slowest?.shape})`;
  table.push([dependency, fault, service, summary(observed), longest, `${recoveredMs.toFixed(0)} ms`]);
}

/** The response texts of the requests that get a 200 while nothing is broken. */
async function contentOf(shapes: readonly Shape[]): Promise<Map<string, string>> {
  const read = shapes.filter(({ well }) => well === 200);
  const texts = read.map(async ({ name, ask }) => [name, (await ask()).text] as const);
  return new Map(await Promise.all(texts));
}
