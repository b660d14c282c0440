import { runService } from '@ori/runtime/run-service';
import { loadAgentConfig, startAgent } from './start-agent.ts';

await runService(process, { prefix: 'KMS_AGENT', load: loadAgentConfig, start: startAgent });
