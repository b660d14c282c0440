import { createLogger } from '@ori/runtime/log';
import { logHardening } from '@ori/runtime/log-hardening';
import { runService } from '@ori/runtime/run-service';
import { checkServiceRing } from '@ori/store/sealing/service-ring';
import { loadManagementConfig, startManagement } from './start-management.ts';

await runService(process, {
  prefix: 'MANAGEMENT',
  workers: true,
  load(env) {
    const config = loadManagementConfig(env);
    checkServiceRing('management', config);
    return config;
  },
  start(config, weaknesses) {
    const log = createLogger({ service: 'management', level: config.logLevel });
    logHardening(log, weaknesses);
    return startManagement(config, { log });
  },
});
