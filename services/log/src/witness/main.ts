import { createLogger } from '@ori/runtime/log';
import { logHardening } from '@ori/runtime/log-hardening';
import { runService } from '@ori/runtime/run-service';
import { loadWitnessConfig } from './config.ts';
import { startWitness } from './start-witness.ts';

await runService(process, {
  prefix: 'WITNESS',
  load: loadWitnessConfig,
  start(config, weaknesses) {
    const log = createLogger({ service: 'witness', level: config.logLevel });
    logHardening(log, weaknesses);
    return startWitness(config, { log });
  },
});
