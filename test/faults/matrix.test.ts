import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reply } from '../env/http-client.ts';
import { startLoad } from '../shipped/constant-load.ts';
import { expectEveryCheckBehind, turnsCharged } from './gate-kept.ts';
import { CELLS, type Cell } from './matrix-cells.ts';
import { GATE_MEMORY_MS, type Observed, undeserved } from './matrix-rows.ts';
import { keepSecrets, type Secrets } from './matrix-secrets.ts';
import { type Answered, managementShapes, type Shape, signerShapes } from './matrix-shapes.ts';
import { type MatrixWorld, startMatrixWorld } from './matrix-world.ts';

// Breaks each dependency of both services in each way, under load, and searches what they write for secrets.
// Shorter than the time for which an opaque token is cached.
const FAULT_MS = 700;
/** The signer may use cached facts for one second. */
const DATABASE_FAULT_MS = 1700;
const PER_SECOND = 8;
const BOTH = new Set(['PostgreSQL', 'issuer']);

let on: MatrixWorld;
let secrets: Secrets;

beforeAll(async () => {
  on = await startMatrixWorld();
  secrets = keepSecrets(on);
});
afterAll(() => on[Symbol.asyncDispose]());

test('while nothing is broken, valid and invalid requests get the expected answers', async () => {
  const statuses = new Set((await secrets.sendEverything()).map(({ status }) => status));
  const expected = [200, 400, 401, 403, 404, 405, 415, 417, 431];
  expect([...statuses]).toEqual(expect.arrayContaining(expected));
});

test.each(CELLS.map((cell) => ({ cell, name: `${cell.dependency} ${cell.fault}` })))(
  '$name: correct and timely answers, no bypass of the gate, and recovery without a restart',
  async ({ cell }) => {
    const pids = [on.world.signer.pid, on.management.pid];
    const ofSigner = await signerShapes(on);
    const ofManagement = BOTH.has(cell.dependency) ? await managementShapes(on) : [];
    const before = await contentOf(ofManagement);
    const chargedBefore = cell.forgets ? undefined : await turnsCharged(on);

    const observed = await underLoad(cell, [...ofSigner, ...ofManagement]);
    const signer = answersTo(ofSigner, observed);
    const management = answersTo(ofManagement, observed);
    expect(undeserved(cell, ofSigner, signer)).toEqual([]);
    expect(undeserved(cell, ofManagement, management)).toEqual([]);
    const replies = [...signer.answers.map(({ reply }) => reply), ...observed.toSecrets];
    await expectEveryCheckBehind(on, replies, chargedBefore);
    for (const { shape, reply } of management.answers) {
      if (reply.status === 200) expect(reply.text).toBe(before.get(shape));
    }
    expect([on.world.signer.pid, on.management.pid]).toEqual(pids);
  },
  60_000,
);

test('no secret appears in a log, metric, trace, error, audit line, page, Redis key or the process list', async () => {
  expect(await secrets.leaks()).toEqual([]);
});

/** Breaks and repairs under requests of every kind, then continues until each is answered normally. */
async function underLoad(cell: Cell, shapes: readonly Shape[]): Promise<Observed> {
  const load = startLoad(PER_SECOND, () => Promise.all(shapes.map(answerTo)));
  const [cause, ...others] = cell.causes;
  const forMs = cell.dependency === 'PostgreSQL' ? DATABASE_FAULT_MS : FAULT_MS;
  const shareMs = forMs / cell.causes.length;
  await cause?.(on);
  const brokenAt = performance.now();
  const planted = plant(cell, forMs);
  await pause(shareMs);
  for (const other of others) {
    await other(on);
    await pause(shareMs);
  }
  const mendingAt = performance.now();
  await cell.lift(on);
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
  return { answers: [...during, ...late], toSecrets: await planted, brokenAt, mendingAt };
}

/** Sends new secrets for as long as the fault lasts, once the signer has no cached facts. */
async function plant({ dependency }: Cell, forMs: number): Promise<Reply[]> {
  const memoryMs = dependency === 'PostgreSQL' ? GATE_MEMORY_MS : 0;
  await pause(memoryMs);
  return secrets.sendCredentials(forMs - memoryMs);
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
