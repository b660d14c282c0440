import { createLogger } from '@ori/runtime/log';
import { logHardening } from '@ori/runtime/log-hardening';
import { runService } from '@ori/runtime/run-service';
import { adoptTree } from './adopt-tree.ts';
import { loadLogConfig, startLog } from './start-log.ts';

await runService(process, {
  prefix: 'LOG',
  load: loadLogConfig,
  async start(config, weaknesses) {
    const log = createLogger({ service: 'log', level: config.logLevel });
    logHardening(log, weaknesses);
    const running = await startLog(config, { log });
    running.failed.catch((err) => {
      log.fatal({ err }, 'the log exits and must be restarted');
      process.kill(process.pid, 'SIGTERM');
    });
    return running;
  },
  commands: { adopt: adoptTree },
});
