import { runService } from '@ori/runtime/run-service';
import { loadWitnessConfig } from './config.ts';
import { startWitness } from './start-witness.ts';

await runService(process, {
  prefix: 'WITNESS',
  load: loadWitnessConfig,
  start: (config, log) => startWitness(config, { log }),
});
