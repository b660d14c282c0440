import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderTable } from '../env/text-table.ts';
import type { World } from '../env/world.ts';
import { type DiskState, setDisk } from './breakable-writes.ts';
import { type Answered, type Shape, startLoad } from './load.ts';

// The disk of the audit file is the fifth dependency of the matrix. A real one cannot be frozen or slowed down without the kernel's
// help, so the write of a signer in this process fails, blocks, is slow or partial, or alternates.
// A disk has no connection that could be half open.

const FULL = process.env['FAULT_MATRIX'] === 'full';
const FAULT_MS = FULL ? 5000 : 700;
const EVERY_MS = FULL ? 20 : 60;

let world: World;
const table: string[][] = [['dependency', 'fault', 'answers', 'worst answer', 'well again after']];

beforeAll(async () => {
  // Imported after the writes were made breakable, because the audit file binds them when loaded.
  const { startWorld } = await import('../env/world.ts');
  world = await startWorld({ environment: { TURN_WINDOW_SECONDS: '86400' } });
});
afterAll(async () => {
  setDisk('good');
  console.log(`What the signer answers under load, by what its disk does:\n${renderTable(table)}`);
  await world[Symbol.asyncDispose]();
});

const FAULTS: readonly (readonly [string, readonly DiskState[], boolean])[] = [
  ['full', ['full'], true],
  ['frozen', ['frozen'], true],
  ['slow', [{ slowMs: 3000 }], true],
  ['cutting writes short', ['short'], true],
  ['flapping', ['full', 'good', 'frozen', 'good', 'short', 'good'], false],
];

test.each(FAULTS)(
  'a disk that is %s: a timely 500, no proof without an audit line, and recovery',
  async (name, states, total) => {
    const { sign, shapes } = await prepare();
    const load = startLoad(shapes, EVERY_MS);
    const brokenAt = performance.now();
    for (const state of states) {
      setDisk(state);
      await pause(FAULT_MS / states.length);
    }
    const mendedAt = performance.now();
    setDisk('good');
    while ((await sign()).status !== 200) await pause(20);
    const recoveredMs = performance.now() - mendedAt;
    const answers = await load.end();
    const during = answers.filter(({ startedAt, endedAt }) => startedAt > brokenAt && endedAt < mendedAt);
    const worstMs = Math.max(...answers.map(({ reply }) => reply.milliseconds));
    table.push(['disk', name, tally(during), `${worstMs.toFixed(0)} ms`, `${recoveredMs.toFixed(0)} ms`]);

    expect(new Set(statusesOf(during, 'API key'))).toEqual(new Set([403]));
    const allowed = total ? [500] : [200, 500];
    for (const status of statusesOf(during, 'JWT')) expect(allowed).toContain(status);
    expect(during.length).toBeGreaterThan(0);
    for (const status of statusesOf(answers, 'JWT')) expect([200, 500]).toContain(status);
    await expectOnRecord(answers);
    if (FULL) expect(Math.max(worstMs, recoveredMs)).toBeLessThan(1000);
  },
);

async function prepare() {
  const token = await world.token();
  const sign = (bearer = token) => world.sign({ bearer });
  const shapes: Shape[] = [
    { name: 'JWT', well: 200, ask: () => sign() },
    { name: 'API key', well: 403, ask: () => sign(world.demo.apiKey) },
  ];
  if ((await sign()).status !== 200) throw new Error('the world is not well');
  return { sign, shapes };
}

/** Each proof once, on its own line. */
async function expectOnRecord(answers: readonly Answered[]): Promise<void> {
  const lines = (await world.audit()).split('\n').filter((line) => line.endsWith('}'));
  const recorded = lines.map((line) => (JSON.parse(line) as { requestId: string }).requestId);
  const proofs = answers.filter(({ reply }) => reply.status === 200);
  const ids = proofs.map(({ reply }) => String(reply.headers['x-request-id']));
  expect(ids.map((id) => recorded.filter((one) => one === id).length)).toEqual(ids.map(() => 1));
}

function statusesOf(answers: readonly Answered[], shape: string): number[] {
  return answers.filter((answered) => answered.shape === shape).map(({ reply }) => reply.status);
}

function tally(answers: readonly Answered[]): string {
  const statuses = answers.map(({ reply }) => reply.status);
  return [...new Set(statuses)]
    .sort((a, b) => a - b)
    .map((status) => `${status} x ${statuses.filter((one) => one === status).length}`)
    .join(', ');
}
