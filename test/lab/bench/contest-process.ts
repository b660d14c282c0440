import { answer } from '../../env/worker.ts';
import type { Contestants } from './contest.ts';

// The process of one contestant: receives a number of operations and replies with the CPU seconds they took.

const [name = '', title = ''] = process.argv.slice(2);
const opened = import(`./contests/${name}.ts`).then(async ({ CONTESTANTS }: { CONTESTANTS: Contestants }) => {
  const contestant = await CONTESTANTS[title]?.();
  if (contestant === undefined) throw new Error(`${name} has no contestant ${title}`);
  await contestant.check();
  return contestant;
});

/** CPU time of all threads, so that work outside the main thread counts. Garbage from the preparation is collected first. */
answer<number>(async (count) => {
  const run = await (await opened).prepare(count);
  globalThis.gc?.({ type: 'minor' });
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
});
