import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { SpenderReport, SpenderTask } from './spender.ts';

const SPENDER = fileURLToPath(new URL('./spender.ts', import.meta.url));
export const PROCESSES = 4;
export const COPIES = 1000;

/** Lets four processes each present the same proof 1,000 times concurrently. Returns all verdicts. */
export async function presentEverywhere(task: SpenderTask): Promise<SpenderReport> {
  const children = Array.from({ length: PROCESSES }, () => fork(SPENDER, { stdio: 'inherit' }));
  onTestFinished(() => {
    for (const child of children) child.kill();
  });
  const ready = children.map((child) => once(child, 'message'));
  for (const child of children) child.send(task);
  await Promise.all(ready);
  const reports = children.map(async (child) => (await once(child, 'message'))[0] as SpenderReport);
  for (const child of children) child.send('go');
  const total: SpenderReport = {};
  for (const report of await Promise.all(reports)) {
    for (const [verdict, count] of Object.entries(report)) total[verdict] = (total[verdict] ?? 0) + count;
  }
  return total;
}
