import { runService } from '@ori/service-kit/run-service';
import { readKekRing } from './adapters/read-kek-ring.ts';
import { loadManagementConfig, startManagement } from './start-management.ts';

await runService(process, {
  prefix: 'MANAGEMENT',
  load(env) {
    const config = loadManagementConfig(env);
    readKekRing(config.kekFile);
    return config;
  },
  start: startManagement,
});
