import { runService } from '@ori/runtime/run-service';
import { loadGuardConfig, startGuard } from './start-guard.ts';

await runService(process, {
  prefix: 'GUARD',
  load: loadGuardConfig,
  start: (config, log) => startGuard(config, { log }),
});
