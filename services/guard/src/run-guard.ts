import { runService } from '@ori/runtime/run-service';
import { loadGuardConfig, startGuard } from './start-guard.ts';

/** The main program, from wherever it is started. */
export const runGuard = (): Promise<void> =>
  runService(process, {
    prefix: 'GUARD',
    load: loadGuardConfig,
    start: (config, log) => startGuard(config, { log }),
  });
