import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Room } from '../env/room.ts';
import type { LoadOrder, LoadReport } from './load.ts';
import { pin } from './process-cost.ts';

/** Starts the process of the load generator, which follows one order at a time. */
export function startGenerator(room: Room): (order: LoadOrder) => Promise<LoadReport> {
  const generator = fork(join(import.meta.dirname, 'load-process.ts'));
  room.admit(generator, 'KILL');
  if (generator.pid !== undefined) pin(generator.pid, 'others');
  return async (order) => {
    const answered = once(generator, 'message');
    generator.send(order);
    const [{ report, failure }] = (await answered) as [{ report?: LoadReport; failure?: string }];
    if (report === undefined) throw new Error(failure);
    return report;
  };
}
