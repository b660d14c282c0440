import { runService } from '@ori/runtime/run-service';
import { loadWitnessConfig, WITNESS_SPEC } from './config.ts';
import { startWitness } from './start-witness.ts';

await runService(process, {
  prefix: 'WITNESS',
  settings: WITNESS_SPEC,
  load: loadWitnessConfig,
  start: (config, log) => startWitness(config, { log }),
});
