import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type LogParts, loadLogConfig, type RunningLog, startLog } from '@ori/log';
import { createLogger } from '@ori/runtime/log';
import { createLogClient, type LogClient } from '@ori/tlog/client';
import { type Policy, parsePolicy, type TrustedCheckpoint } from '@ori/tlog/policy';

/** One for every start: each logger listens for the exit of the process. */
const log = createLogger({ service: 'log', level: 'silent' });

/** A log in its own folder, with the audit file of one signer. */
export async function openLogWorld() {
  const folder = await mkdtemp(join(tmpdir(), 'ori-log-'));
  const auditFile = join(folder, 'audit.jsonl');
  const env = {
    LOG_ORIGIN: 'log.example/log',
    LOG_KEY: randomBytes(32).toString('base64'),
    LOG_AUDIT_FILES: auditFile,
    LOG_FOLDER: join(folder, 'log'),
    LOG_GUARD_FOLDER: join(folder, 'guard'),
    LOG_PORT: '0',
    LOG_OPS_PORT: '0',
    LOG_INTERVAL_MS: '100',
    LOG_LOG_LEVEL: 'silent',
  };
  const running: RunningLog[] = [];
  return {
    folder,
    auditFile,
    /** The environment that the log is started with. */
    env,
    async start(more: Record<string, string> = {}, parts: Partial<LogParts> = {}): Promise<RunningLog> {
      const config = { ...loadLogConfig({ ...env, ...more }), shutdownIdleMs: 0 };
      const started = await startLog(config, { log, ...parts });
      running.push(started);
      return started;
    },
    async [Symbol.asyncDispose]() {
      for (const started of running) await started.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** A policy with one log and its completeness witness, both with ML-DSA-44 beside Ed25519, which it requires. */
export function policyOf({ vkeys, url }: Pick<RunningLog, 'vkeys' | 'url'>): Policy {
  const lines = [
    `log ${vkeys.log} ${url}`,
    `log ${vkeys.logMlDsa}`,
    `witness complete ${vkeys.complete}`,
    `witness complete-ml-dsa ${vkeys.completeMlDsa}`,
    'quorum none',
  ];
  return parsePolicy(lines.join('\n'), { requireMlDsa: true });
}

/** The first checkpoint of `size` leaves or more. @throws Error after the deadline, with the current state */
export async function untilSize(
  client: LogClient,
  size: number,
  deadlineMs = 45_000,
): Promise<TrustedCheckpoint> {
  const endsAt = performance.now() + deadlineMs;
  let failure: unknown;
  for (let last = 'no checkpoint'; ; ) {
    try {
      const head = await client.latest();
      if (head.size >= size) return head;
      last = `${head.size} leaves`;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > endsAt) {
      throw new Error(`waited for ${size} leaves, and there is ${last}`, { cause: failure });
    }
    await pause(20);
  }
}

export function clientOf(log: RunningLog): LogClient {
  return createLogClient({ policy: policyOf(log) });
}
