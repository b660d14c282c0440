import { leavesOpen } from '@ori/identity/config';
import { runService } from '@ori/runtime/run-service';
import { checkServiceRing } from '@ori/sealing/service-ring';
import { loadSignerConfig, SIGNER_SPEC } from './config.ts';
import { startSigner } from './start-signer.ts';

await runService(process, {
  prefix: 'SIGNER',
  settings: SIGNER_SPEC,
  load(env) {
    const config = loadSignerConfig(env);
    checkServiceRing('signer', config);
    return config;
  },
  leavesOpen: (config) => leavesOpen('SIGNER', config),
  async start(config, log) {
    const signer = await startSigner(config, { log });
    return { stop: signer.stop, reopen: signer.reopenAudit };
  },
});
