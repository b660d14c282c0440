import { createLogger } from '@ori/service-kit/log';
import { logHardening } from '@ori/service-kit/log-hardening';
import { runService } from '@ori/service-kit/run-service';
import { readKekRing } from './adapters/read-kek-ring.ts';
import { loadManagementConfig, startManagement } from './start-management.ts';

await runService(process, {
  prefix: 'MANAGEMENT',
  workers: true,
  load(env) {
    const config = loadManagementConfig(env);
    readKekRing(config.kekFile);
    return config;
  },
  start(config, weaknesses) {
    const log = createLogger({ service: 'management', level: config.logLevel });
    logHardening(log, weaknesses);
    return startManagement(config, { log });
  },
});
