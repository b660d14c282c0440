import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openPorts } from '@ori/http/open-ports';
import { openTracing } from '@ori/http/tracing';
import { createLogger, type Logger } from '@ori/runtime/log';
import { createLogKeys, renderVkeys } from '@ori/tlog/log-keys';
import type { LogConfig } from './config.ts';
import { ifThere } from './disk/durable-file.ts';
import { openLogFolder, publicFolder } from './disk/log-folder.ts';
import { followFile, type Source } from './follow/audit-files.ts';
import { createLogApp, logRoutes } from './http/log-app.ts';
import { createLogMetrics } from './metrics.ts';
import { createPublisher } from './publisher.ts';
import { createSequencer } from './sequencer.ts';
import { createWitnesses } from './witnesses.ts';

export { LOG_SPEC, type LogConfig, loadLogConfig } from './config.ts';

/** How long a witness may take for one answer. */
const WITNESS_TIMEOUT_MS = 2000;
/** How many intervals may pass without a checkpoint before the log reports that it is not ready. */
const LATE_INTERVALS = 15;
const JOURNAL_BYTES_MAX = 8 * 1024 * 1024;

export interface LogParts {
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** From this size on the journal is compacted; 8 MiB by default. */
  readonly journalBytesMax: number;
}

/**
 * Starts the log: appends the audit lines written since it stopped, and serves the tree.
 *
 * @throws LogError if the tree on disk is not the one that was signed, or a witness has seen a larger one
 */
export async function startLog(config: LogConfig, parts: Partial<LogParts> = {}) {
  const log = parts.log ?? createLogger({ service: 'log', level: config.logLevel });
  const { now = Date.now, journalBytesMax = JOURNAL_BYTES_MAX } = parts;
  const { origin, folder: place, guardFolder, policy, intervalMs } = config;
  const keys = createLogKeys(origin, config.key.reveal());
  const prefix = origin.slice(origin.indexOf('/'));
  const { checkpoint, lookup, tiles } = logRoutes(prefix);
  const witnessNames = [...(policy?.witnesses.keys() ?? [])];
  const metrics = createLogMetrics([checkpoint, lookup, ...tiles], config.auditFiles, witnessNames);

  await using stack = new AsyncDisposableStack();
  stack.defer(() => metrics.http.close());
  const tracing = await openTracing({ service: 'log', config, log });
  if (tracing) stack.defer(tracing.close);
  const folder = await openLogFolder({ folder: place, guardFolder });
  stack.defer(folder.close);
  const witnesses = createWitnesses(policy, {
    timeoutMs: WITNESS_TIMEOUT_MS,
    onFailure(witness, err) {
      metrics.witnessFailed(witness);
      log.warn({ witness, err }, 'a witness did not cosign');
    },
  });
  const publisher = createPublisher(folder, { folder: place, keys, policy, witnesses });
  await publisher.confirm();
  const sources = new Map<string, Source>();
  for (const path of config.auditFiles) {
    const source = await followFile(path, folder.positions[path]);
    sources.set(path, source);
    stack.defer(source.close);
  }

  let note = await ifThere(readFile(join(publicFolder(place), 'checkpoint'), 'utf8'));
  let publishedAt = performance.now();
  const failing = new Map<string, unknown>();
  const sequencer = createSequencer({
    folder,
    sources,
    publisher,
    v1KeyOf: keys.v1KeyOf,
    intervalMs,
    journalBytesMax,
    now,
    events: {
      appended: metrics.appended,
      published(published, completeAt) {
        note = published.note;
        publishedAt = performance.now();
        metrics.published(published.size, completeAt);
      },
      source(path, error) {
        if (error === undefined ? !failing.delete(path) : failing.has(path)) return;
        if (error !== undefined) failing.set(path, error);
        metrics.sourceFailing(path, error !== undefined);
        if (error === undefined) log.info({ path }, 'the audit file can be read again');
        else log.error({ path, err: error }, 'the audit file cannot be read');
      },
      failed(err) {
        metrics.failed();
        log.error({ err }, 'the log failed and will retry');
      },
    },
  });
  stack.defer(sequencer.stop);

  const app = createLogApp(prefix, {
    folder: publicFolder(place),
    checkpoint: () => note,
    lookup: folder.lookup,
  });
  const { api, opsUrl, stop } = await openPorts(
    config,
    {
      app: tracing?.serve(app) ?? app,
      log,
      metrics: metrics.http,
      checks: {
        async sources() {
          for (const error of failing.values()) throw error;
        },
        async checkpoint() {
          const late = performance.now() - publishedAt > LATE_INTERVALS * intervalMs;
          if (note === undefined || late) throw Object.assign(new Error('late'), { code: 'checkpoint_late' });
        },
      },
    },
    stack,
  );
  const vkeys = renderVkeys(keys);
  log.info({ url: `${api.url}${prefix}`, opsUrl, leaves: folder.tree.size, ...vkeys }, 'listening');
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  sequencer.run().catch(reject);
  return {
    url: `${api.url}${prefix}`,
    opsUrl,
    /** Verifier keys, as in a policy. */
    vkeys,
    /** Rejects when the log must exit because only a restart can determine what is on disk. */
    failed,
    stop,
  };
}

export type RunningLog = Awaited<ReturnType<typeof startLog>>;
