import cluster from 'node:cluster';
import { ProofError, UnavailableError } from '@ori/proof';
import { createLedger, type Ledger } from './memory-ledger.ts';
import { type ReplayStore, retentionSeconds, type Spend } from './replay-store.ts';

export interface MemoryReplayStoreOptions {
  /** Most proofs remembered at once, over all interns; 100000 by default. Beyond it everything is refused until some expire. */
  entriesMax?: number;
  /** Unix time in milliseconds; `Date.now` by default. The verifier must use the same clock. */
  now?: () => number;
}

/**
 * Remembers spent proofs in this process, and in no other: not for a daemon that runs twice or behind a load balancer.
 * What happened before it was made it cannot know, so it refuses every proof issued up to then (`proof_before_fence`): a daemon
 * that restarts refuses for a few seconds. It never forgets a proof that could still be accepted; when full it refuses.
 * Throws TypeError in a worker of node:cluster, where each worker would accept the same proof once.
 */
export function memoryReplayStore(options: MemoryReplayStoreOptions = {}): ReplayStore {
  const { entriesMax = 100_000, now = Date.now } = options;
  if (!(Number.isInteger(entriesMax) && entriesMax > 0))
    throw new TypeError('entriesMax: expected an integer above 0');
  if (cluster.isWorker)
    throw new TypeError('memoryReplayStore: one process only; in a cluster use redisReplayStore');

  const createdMs = now();
  const ledgers = new Map<string, Ledger>();
  let latestMs = createdMs;
  let entries = 0;

  /** The highest time seen: a clock that steps back must not bring a forgotten proof back to life. */
  function readClock(toleranceSeconds: number): number {
    const reading = now();
    if (latestMs - reading > toleranceSeconds * 1000) {
      throw new UnavailableError('replay_store_unsafe', 'the clock has gone back');
    }
    if (reading > latestMs) latestMs = reading;
    return latestMs / 1000;
  }

  function spend({ policy, timestamp, nonce, v1Id }: Spend): void {
    const seconds = readClock(policy.clockToleranceSeconds);
    requireAfter(createdMs / 1000 + policy.clockToleranceSeconds, timestamp, seconds);

    const ledger = ledgerOf(policy.internId);
    entries -= ledger.forget(Math.floor(seconds - retentionSeconds(policy)));
    if (timestamp <= ledger.floor)
      throw new ProofError('proof_expired', 'the proof is older than what is remembered');
    if (timestamp > seconds + policy.clockToleranceSeconds) {
      throw new ProofError('proof_not_yet_valid', 'the proof is stamped ahead of the clock of the store');
    }
    if (nonce === undefined) {
      requireAfter(ledger.markFrom(seconds + policy.clockToleranceSeconds), timestamp, seconds);
    }
    if (entries + 2 > entriesMax)
      throw new UnavailableError('replay_store_full', `${entriesMax} proofs are remembered`);
    const added =
      nonce === undefined ? ledger.addV1(timestamp, v1Id()) : ledger.addV2(timestamp, nonce, v1Id);
    if (added === 0) throw new ProofError('nonce_replayed', 'the proof was spent before');
    entries += added;
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
    attach(policy) {
      if (policy.acceptV1) ledgerOf(policy.internId).markFrom(latestMs / 1000 + policy.clockToleranceSeconds);
    },
    spend,
  };
}

/** Refuses what could have been accepted before an event that nothing is remembered from. */
function requireAfter(fenceSeconds: number, timestamp: number, nowSeconds: number): void {
  const fence = Math.ceil(fenceSeconds);
  if (timestamp > fence) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(fence + 1 - nowSeconds));
  throw new ProofError('proof_before_fence', 'the proof was issued before this store could remember it', {
    retryAfterSeconds,
  });
}
