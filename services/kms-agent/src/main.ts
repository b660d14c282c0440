import { runService } from '@ori/runtime/run-service';
import { KMS_AGENT_SPEC } from './config.ts';
import { loadAgentConfig, startAgent } from './start-agent.ts';

await runService(process, {
  prefix: 'KMS_AGENT',
  settings: KMS_AGENT_SPEC,
  load: loadAgentConfig,
  start: startAgent,
});
