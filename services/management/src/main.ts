import { leavesOpen } from '@ori/identity/config';
import { runService } from '@ori/runtime/run-service';
import { checkServiceRing } from '@ori/sealing/service-ring';
import { MANAGEMENT_SPEC } from './config.ts';
import { loadManagementConfig, startManagement } from './start-management.ts';

await runService(process, {
  prefix: 'MANAGEMENT',
  settings: MANAGEMENT_SPEC,
  workers: true,
  load(env) {
    const config = loadManagementConfig(env);
    checkServiceRing('management', config);
    return config;
  },
  leavesOpen: (config) => leavesOpen('MANAGEMENT', config),
  start: (config, log) => startManagement(config, { log }),
});
