import { runService } from '@ori/runtime/run-service';
import { adoptTree } from './adopt-tree.ts';
import { LOG_SPEC } from './config.ts';
import { loadLogConfig, startLog } from './start-log.ts';

await runService(process, {
  prefix: 'LOG',
  settings: LOG_SPEC,
  load: loadLogConfig,
  async start(config, log) {
    const running = await startLog(config, { log });
    running.failed.catch((err) => {
      log.fatal({ err }, 'the log exits and must be restarted');
      process.kill(process.pid, 'SIGTERM');
    });
    return running;
  },
  commands: { adopt: adoptTree },
});
