import { createHmac } from 'node:crypto';
import { isSingleUse, type Version } from '@ori/proof/wire';
import { hasCommitment, parseEntry } from '../entry.ts';
import { COMPLETE, type TrustedCheckpoint } from '../policy.ts';
import { TlogError } from '../tlog-error.ts';
import { startChecks } from './checks.ts';
import type { ClaimedLeaf, LogClient } from './log-client.ts';
import { createPendingProofs, type PendingProof } from './pending-proofs.ts';
import { createProblemReport, quietly } from './problem-report.ts';
import type { Remembered } from './remembered.ts';

/** The part of a `VerifiedProof` that the monitor uses. */
export interface AcceptedProof {
  readonly version: Version;
}

export interface MonitorOptions<Proof> {
  readonly client: LogClient;
  /** The key of this intern's version 1 commitments, for a daemon that accepts version 1. */
  readonly v1Key?: Uint8Array;
  /**
   * Called for an accepted proof that is not in a log which is complete up to after its acceptance: its signature was made
   * outside the signers, with a stolen key. Once for each, and again after a process that was killed before it stored that.
   */
  readonly onMissing: (proof: Proof) => void;
  /**
   * Called when the log cannot be relied on any more, or is behind by more than the limit; while that lasts, again each
   * `limitSeconds`; and with `recovered` once when it is over.
   */
  readonly onProblem: (problem: MonitorProblem) => void;
  /** How far this clock and the log's may be apart, in seconds; 5 by default. */
  readonly clockToleranceSeconds?: number;
  /** How long the log may be behind, in seconds; 60 by default. */
  readonly limitSeconds?: number;
  /** How often the log is asked, in milliseconds; 5000 by default. */
  readonly everyMs?: number;
  /** The most proofs that may wait for the log; 100,000 by default. Beyond it, `overflow` is reported. */
  readonly pendingMax?: number;
  /**
   * Stores the waiting proofs as JSON after each check and when the monitor stops, so that they are checked after a restart.
   * A process that is killed loses those accepted since the last check. Each process needs its own. Absent: they are kept in
   * memory only.
   */
  readonly remembered?: Remembered;
  /** Unix time in milliseconds; `Date.now` by default. */
  readonly now?: () => number;
}

export type MonitorProblem =
  /** A proof has waited longer than the limit for a log that is complete up to its time. */
  | { readonly kind: 'behind'; readonly seconds: number }
  /** More proofs wait than fit: this one will not be checked. */
  | { readonly kind: 'overflow' }
  /** A version 1 proof was accepted, and there is no `v1Key` to check it with. */
  | { readonly kind: 'unchecked' }
  /** What the log serves cannot be trusted: `inconsistent` and `rolled_back` are evidence against it. */
  | { readonly kind: 'untrusted'; readonly error: TlogError }
  /** The problem that was reported last is over. */
  | { readonly kind: 'recovered' }
  /** The waiting proofs could not be loaded or saved, so a restart loses them. Reported once. */
  | { readonly kind: 'unkept'; readonly cause: unknown };

/** Checks that each proof a daemon accepted is in the signing log, on a timer that does not keep the process alive. */
export function createMonitor<Proof extends AcceptedProof>(options: MonitorOptions<Proof>) {
  const { client, onMissing, onProblem, clockToleranceSeconds = 5, limitSeconds = 60 } = options;
  const { v1Key, everyMs = 5000, pendingMax = 100_000, now = Date.now } = options;
  const pending = createPendingProofs<Proof>(options.remembered);
  let isUnkept = false;

  const seconds = () => now() / 1000;
  const { report, recover } = createProblemReport<MonitorProblem>({ onProblem, limitSeconds, seconds });
  /** Apart from the others, because no check of the log ends it. */
  const unchecked = createProblemReport<MonitorProblem>({ onProblem, limitSeconds, seconds });

  function commit({ version }: AcceptedProof, signingInputSha256: string): string | undefined {
    if (isSingleUse(version)) return signingInputSha256;
    if (v1Key === undefined) return undefined;
    return createHmac('sha256', v1Key).update(signingInputSha256, 'hex').digest('hex');
  }

  /** Loads or saves the waiting proofs. A failure is reported once, and checking continues in memory. */
  async function keeping(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (cause) {
      if (!isUnkept) quietly(() => onProblem({ kind: 'unkept', cause }));
      isUnkept = true;
    }
  }

  async function ask(): Promise<void> {
    await keeping(pending.load);
    let failure: TlogError | undefined;
    try {
      const head = await client.latest();
      const completeAt = head.witnessed.get(COMPLETE);
      if (completeAt === undefined) {
        throw new TlogError('quorum_missing', 'the checkpoint does not say how complete it is');
      }
      await judge(head, completeAt);
    } catch (error) {
      if (!(error instanceof TlogError)) throw error;
      failure = error;
    }
    if (failure !== undefined && failure.code !== 'unavailable')
      report({ kind: 'untrusted', error: failure });
    else if (!reportBehind() && failure === undefined) recover();
    await keeping(pending.save);
  }

  /** Reports that the log is behind, if it is. */
  function reportBehind(): boolean {
    const waited = seconds() - (pending.all[0]?.acceptedAt ?? seconds());
    const isBehind = waited > limitSeconds;
    if (isBehind) report({ kind: 'behind', seconds: Math.round(waited) });
    return isBehind;
  }

  async function judge(head: TrustedCheckpoint, completeAt: number): Promise<void> {
    const due = pending.all.filter(({ acceptedAt }) => acceptedAt + clockToleranceSeconds < completeAt);
    if (due.length === 0) return;
    const leaves = await client.lookup(due.map(({ commitment }) => Buffer.from(commitment, 'hex')));
    const settled = new Set<PendingProof<Proof>>();
    let failure: unknown;
    for (const one of due) {
      const leaf = leaves.get(one.commitment);
      if (leaf === undefined || !isOf(leaf, one.commitment)) {
        // Reported only at the second checkpoint without it: a log that has just started may not find its last leaves.
        if (one.missedAt === undefined) one.missedAt = completeAt;
        else if (completeAt > one.missedAt) {
          settled.add(one);
          quietly(() => onMissing(one.proof));
        }
      } else if (leaf.index < head.size) {
        try {
          await client.prove(leaf, head);
          settled.add(one);
        } catch (error) {
          // It waits for the next check. The others are still checked: one bad answer must not hide a missing proof.
          failure ??= error;
        }
      }
    }
    pending.remove(settled);
    if (failure !== undefined) throw failure;
  }

  const checks = startChecks(everyMs, {
    once: ask,
    failed: (cause) =>
      report({ kind: 'untrusted', error: new TlogError('malformed', 'the check failed', { cause }) }),
    lasts: reportBehind,
  });
  return {
    /**
     * Registers a proof that was just accepted; pass it as the verifier's `onAccepted`. Costs no more than a push.
     *
     * @param signingInputSha256 in hex
     */
    accepted(proof: Proof, signingInputSha256: string): void {
      const commitment = commit(proof, signingInputSha256);
      if (commitment === undefined) unchecked.report({ kind: 'unchecked' });
      else if (pending.all.length >= pendingMax) report({ kind: 'overflow' });
      else pending.add({ commitment, proof, acceptedAt: seconds() });
    },
    check: checks.check,
    /** Stops the timer, waits for the current check, and stores what still waits. */
    async stop(): Promise<void> {
      await checks.stop();
      await keeping(pending.load);
      await keeping(pending.save);
    },
  };
}

export type Monitor<Proof extends AcceptedProof> = ReturnType<typeof createMonitor<Proof>>;

function isOf({ entry }: ClaimedLeaf, commitment: string): boolean {
  try {
    return hasCommitment(parseEntry(entry), Buffer.from(commitment, 'hex'));
  } catch {
    return false;
  }
}
