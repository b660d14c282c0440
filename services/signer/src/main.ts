import { createLogger } from '@ori/service-kit/log';
import { logHardening } from '@ori/service-kit/log-hardening';
import { runService } from '@ori/service-kit/run-service';
import { readKekRing } from './adapters/read-kek-ring.ts';
import { loadSignerConfig } from './config.ts';
import { startSigner } from './start-signer.ts';

await runService(process, {
  prefix: 'SIGNER',
  load(env) {
    const config = loadSignerConfig(env);
    readKekRing(config.kekFile);
    return config;
  },
  async start(config, weaknesses) {
    const log = createLogger({ service: 'signer', level: config.logLevel });
    logHardening(log, weaknesses);
    const signer = await startSigner(config, { log });
    return { stop: signer.stop, reopen: signer.reopenAudit };
  },
});
