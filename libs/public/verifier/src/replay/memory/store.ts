import { UnavailableError } from '@ori/proof/wire';
import { requireNames } from '../../options.ts';
import { type AnswerStore, type ReplayPolicy, retentionSeconds, type Spend } from '../replay-store.ts';
import { QUESTION_SECONDS_MAX, RETENTION_SECONDS_MAX, TOLERANCE_SECONDS_MAX } from '../times.ts';
import { requireSpent, type Verdict } from '../verdict.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { createRecords } from './records.ts';

/** Options of `memoryReplayStore`. */
export interface MemoryReplayStoreOptions {
  /**
   * Maximum number of proofs remembered, over all interns; 100000 by default. When full, it refuses all proofs until some expire.
   */
  entriesMax?: number | undefined;
  /** Unix time in milliseconds; `Date.now` by default. The verifier must use the same clock. */
  now?: (() => number) | undefined;
  /** Milliseconds of a monotonic clock; `performance.now` by default, or `now` if only that is set. */
  uptime?: (() => number) | undefined;
}

/**
 * Remembers spent proofs in this process only: not for daemons with several processes or machines.
 * It refuses every proof issued before it was created (`proof_before_fence`), because its predecessor may have accepted them: after
 * a restart a daemon refuses proofs for a few seconds. It never forgets a proof that could still be accepted, whatever the clock
 * does; when it is full, it refuses.
 * @throws {TypeError} invalid options; in a worker of node:cluster, where each worker would accept the same proof once.
 */
export function memoryReplayStore(options: MemoryReplayStoreOptions = {}) {
  requireNames(options, ['entriesMax', 'now', 'uptime'], 'memoryReplayStore');
  const { entriesMax = 100_000, now = Date.now } = options;
  const uptime = options.uptime ?? options.now ?? performance.now.bind(performance);
  if (!(Number.isInteger(entriesMax) && entriesMax > 0))
    throw new TypeError('entriesMax: expected an integer above 0');
  if (isClusterWorker())
    throw new TypeError(
      'memoryReplayStore: in a cluster each worker would accept the same proof; use redisReplayStore or postgresReplayStore',
    );

  let created = createdNow();
  const ledgers = new Map<string, Ledger>();
  const records = createRecords(uptime);
  let entries = 0;

  /**
   * The end of the fence: the time of creation, by the clock at that time or by the clock now, whichever is later, because it may have
   * been corrected since; and the tolerance.
   */
  function fenceSeconds({ clockToleranceSeconds }: ReplayPolicy, wallMs: number): number {
    const uptimeMs = uptime();
    created ??= { wallMs, uptimeMs };
    const nowSaidMs = wallMs - (uptimeMs - created.uptimeMs);
    const createdMs = nowSaidMs > created.wallMs + DRIFT_MS ? nowSaidMs : created.wallMs;
    return createdMs / 1000 + clockToleranceSeconds;
  }

  /** Undefined in the module scope of workerd, whose clock is 0 until the first request; the store then starts with that request. */
  function createdNow(): Moment | undefined {
    const wallMs = now();
    return wallMs > 0 ? { wallMs, uptimeMs: uptime() } : undefined;
  }

  function judge({ policy, timestamp, nonce, v1Id, caller }: Spend): Verdict {
    const wallMs = now();
    const fence = fenceSeconds(policy, wallMs);
    const seconds = wallMs / 1000;
    if (timestamp > seconds + policy.clockToleranceSeconds) return { verdict: 'not_yet_valid' };
    const ledger = ledgerOf(policy.internId);
    const horizon = Math.floor(seconds - retentionSeconds(policy));
    entries -= ledger.forget(horizon);
    if (timestamp <= ledger.floor || timestamp <= horizon) return { verdict: 'expired' };
    if (nonce === undefined) ledger.marksFrom ??= ledger.highest;
    const bound = Math.ceil(nonce === undefined ? Math.max(fence, ledger.marksFrom ?? fence) : fence);
    if (timestamp <= bound)
      return { verdict: 'before_fence', retryAfterSeconds: Math.max(1, Math.ceil(bound + 1 - seconds)) };
    const isMarking = ledger.marksFrom !== undefined;
    const { conflicting, recorded } =
      nonce === undefined ? idsOfV1(v1Id()) : idsOfV2(nonce, isMarking ? v1Id() : undefined);
    if (ledger.has(conflicting)) return { verdict: 'replayed' };
    requireRoom(recorded.length, Math.floor(seconds - RETENTION_SECONDS_MAX));
    entries += ledger.add(timestamp, recorded);
    if (nonce !== undefined && caller !== undefined) records.begin(policy.internId, nonce, caller);
    else if (policy.answers === undefined) ledger.unrecorded = Math.max(ledger.unrecorded, timestamp);
    return { verdict: 'spent' };
  }

  const answers: AnswerStore = {
    keep: ({ policy, nonce }, end) => records.end(policy.internId, nonce, end),
    ask({ policy, user, nonce, timestamp }) {
      const record = records.of(policy.internId, nonce);
      if (record?.user === user) return record.end;
      const ledger = ledgerOf(policy.internId);
      const wallMs = now();
      const seconds = wallMs / 1000;
      const since = Math.max(fenceSeconds(policy, wallMs), ledger.unrecorded);
      const isCertain = ledger.marksFrom === undefined && timestamp - QUESTION_SECONDS_MAX > since;
      // Of another person's call nobody learns that there is one.
      if (record !== undefined || ledger.has([voidOf(nonce)])) return isCertain ? 'not_received' : 'lost';
      if (ledger.has([nonce])) return 'lost';
      requireRoom(1, Math.floor(seconds - RETENTION_SECONDS_MAX));
      // As late as a proof could be that any verifier accepts.
      entries += ledger.add(Math.ceil(seconds) + TOLERANCE_SECONDS_MAX, [voidOf(nonce)]);
      return isCertain ? 'not_received' : 'lost';
    },
  };

  /** Makes room by removing only proofs that no verifier accepts any more. */
  function requireRoom(needed: number, horizon: number): void {
    if (entries + records.size + needed <= entriesMax) return;
    for (const ledger of ledgers.values()) entries -= ledger.forget(horizon);
    if (entries + records.size + needed <= entriesMax) return;
    throw new UnavailableError('replay_store_full', `${entriesMax} proofs are remembered`);
  }

  function ledgerOf(internId: string): Ledger {
    let ledger = ledgers.get(internId);
    if (ledger === undefined) {
      ledger = createLedger();
      ledgers.set(internId, ledger);
    }
    return ledger;
  }

  return {
    attach({ internId, acceptV1 }: ReplayPolicy): void {
      const ledger = ledgerOf(internId);
      if (acceptV1) ledger.marksFrom ??= ledger.highest;
    },
    spend: (spend: Spend): 'spent' => requireSpent(judge(spend)),
    answers,
  };
}

/** A synchronous replay store. */
export type MemoryReplayStore = ReturnType<typeof memoryReplayStore>;

/** Recorded in the place of a nonce that a question spent. */
const voidOf = (nonce: string): string => `x${nonce}`;

interface Moment {
  readonly wallMs: number;
  readonly uptimeMs: number;
}

/** Without an import, so that the module loads on runtimes without node:cluster. */
function isClusterWorker(): boolean {
  const cluster: object | undefined = globalThis.process?.getBuiltinModule?.('node:cluster');
  return cluster !== undefined && 'isWorker' in cluster && cluster.isWorker === true;
}

/** Two clocks of one machine can drift apart by this much within seconds. */
const DRIFT_MS = 5;

/** The ids that must be absent, and those to record then. */
interface Ids {
  readonly conflicting: readonly string[];
  readonly recorded: readonly string[];
}

function idsOfV1(id: string): Ids {
  return { conflicting: [id, `m${id}`], recorded: [id] };
}

/** Two version 2 proofs may share a version 1 id, so it is recorded as a mark that conflicts with version 1 proofs only. */
function idsOfV2(nonce: string, v1Id: string | undefined): Ids {
  const conflicting = [nonce, voidOf(nonce)];
  if (v1Id === undefined) return { conflicting, recorded: [nonce] };
  return { conflicting: [...conflicting, v1Id], recorded: [nonce, `m${v1Id}`] };
}
