import { runService } from '@ori/runtime/run-service';
import { GUARD_SPEC, loadGuardConfig, startGuard } from './start-guard.ts';

/** The main program, from wherever it is started. */
export const runGuard = (): Promise<void> =>
  runService(process, {
    prefix: 'GUARD',
    settings: GUARD_SPEC,
    load: loadGuardConfig,
    start: (config, log) => startGuard(config, { log }),
  });
