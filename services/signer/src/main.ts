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
  async start(config) {
    const signer = await startSigner(config);
    return { stop: signer.stop, reopen: signer.reopenAudit };
  },
});
