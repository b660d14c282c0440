import type { Presentation } from './history.ts';

/** A failed guarantee, or a problem with the run itself. */
export interface Violation {
  readonly what:
    | 'accepted twice'
    | 'accepted while the store is unsafe'
    | 'accepted a forged proof'
    | 'no recovery in time'
    | 'late on a busy machine'
    | 'a verifier exited unexpectedly'
    | 'refused a fresh proof without a fault';
  /** The number of the schedule in which it was found. */
  readonly schedule: number;
  readonly detail: string;
}

/** The timeline of a finished schedule, in Unix milliseconds. */
export interface Stages {
  readonly schedule: number;
  /** The start of the schedule. The previous fault is over and the next has not begun. */
  readonly calmFromMs: number;
  readonly faultFromMs: number;
  readonly faultUntilMs: number;
  /** When the last verifier had accepted a fresh proof again. */
  readonly recoveredMs: number;
  readonly overMs: number;
  /** Intervals in which these verifiers must not accept anything. */
  readonly unsafe: readonly {
    readonly verifier: string;
    readonly fromMs: number;
    readonly untilMs: number;
  }[];
}

export interface Totals {
  readonly spends: number;
  readonly accepted: number;
  /** The number of presentations in flight when a fault began. */
  readonly inFlight: number;
  /** Fresh proofs presented while no fault was active. */
  readonly calm: number;
  /** Of those: refused, by code; and without a definite answer, by code. */
  readonly refusedWhileCalm: Readonly<Record<string, number>>;
  readonly unavailableWhileCalm: Readonly<Record<string, number>>;
}

interface Disputed {
  readonly id: string;
  readonly verdict: string;
  readonly schedule: number;
  readonly verifier: string;
}

/** Codes for an unreachable store, which a busy machine can cause without any fault. */
const UNAVAILABLE = /^(?:replay_store|keys)_/;

/**
 * Recovery is measured in wall-clock time. A late one in which a verifier waited for a processor for more than half of the time
 * is reported separately, because it reflects the machine rather than the store.
 */
export function judgeRecovery(
  { recoveryMs, waitedMs }: { recoveryMs: number; waitedMs: number },
  recoveryMsMax: number,
): Violation['what'] | undefined {
  if (recoveryMs <= recoveryMsMax) return undefined;
  return waitedMs > recoveryMs / 2 ? 'late on a busy machine' : 'no recovery in time';
}

/** A late recovery does not indicate a broken guard. */
export function isLateness({ what }: Pick<Violation, 'what'>): boolean {
  return what === 'no recovery in time' || what === 'late on a busy machine';
}

/** Checks the histories of all processes of one world. Pass every presentation, then the stages of the schedule it fell into. */
export function createChecker() {
  const accepted = new Map<string, string>();
  const violations: Violation[] = [];
  const refusedWhileCalm: Record<string, number> = {};
  const unavailableWhileCalm: Record<string, number> = {};
  let waiting: { verifier: string; presentation: Presentation }[] = [];
  let spends = 0;
  let inFlight = 0;
  let calm = 0;
  /** Fresh proofs refused as replays while no fault was active: correct if a copy was or may have been accepted. */
  let disputed: Disputed[] = [];
  const unsure = new Set<string>();

  function judge({ verifier, presentation }: (typeof waiting)[number], stages: Stages): void {
    const { kind, id, verdict, sentMs, answeredMs } = presentation;
    const report = (what: Violation['what'], detail: string): void => {
      violations.push({ what, schedule: stages.schedule, detail });
    };
    const within = (fromMs: number, untilMs: number): boolean => sentMs > fromMs && answeredMs < untilMs;
    if (sentMs <= stages.faultFromMs && answeredMs >= stages.faultFromMs) inFlight += 1;
    if (verdict === 'accepted') {
      const unsafe = stages.unsafe.find(
        (window) => window.verifier === verifier && within(window.fromMs, window.untilMs),
      );
      if (unsafe) report('accepted while the store is unsafe', `${id} by ${verifier}`);
      if (kind === 'forged') report('accepted a forged proof', `${id} by ${verifier}`);
    }
    if (kind !== 'fresh' && kind !== 'ahead') return;
    const isCalm = within(stages.calmFromMs, stages.faultFromMs) || within(stages.recoveredMs, stages.overMs);
    if (!isCalm) return;
    calm += 1;
    if (verdict === 'accepted') return;
    if (UNAVAILABLE.test(verdict)) {
      unavailableWhileCalm[verdict] = (unavailableWhileCalm[verdict] ?? 0) + 1;
      return;
    }
    disputed.push({ id, verdict, schedule: stages.schedule, verifier });
  }

  function settle({ id, verdict, schedule, verifier }: Disputed): void {
    if (verdict === 'nonce_replayed' && (accepted.has(id) || unsure.has(id))) return;
    refusedWhileCalm[verdict] = (refusedWhileCalm[verdict] ?? 0) + 1;
    const detail = `${id} by ${verifier}: ${verdict}`;
    violations.push({ what: 'refused a fresh proof without a fault', schedule, detail });
  }

  return {
    violations: violations as readonly Violation[],

    /** `verifier` names the process; `schedule` is the current one. */
    see(verifier: string, presentation: Presentation, schedule: number): void {
      spends += 1;
      if (presentation.verdict === 'accepted') {
        const first = accepted.get(presentation.id);
        const detail = `${verifier} (${presentation.kind})`;
        if (first === undefined) accepted.set(presentation.id, detail);
        else {
          const both = `${presentation.id} by ${first}, then ${detail}`;
          violations.push({ what: 'accepted twice', schedule, detail: both });
        }
      } else if (UNAVAILABLE.test(presentation.verdict)) {
        unsure.add(presentation.id);
      }
      waiting.push({ verifier, presentation });
    },

    /** The checks that need the whole schedule. */
    conclude(stages: Stages): void {
      // A copy may have been accepted by a process whose history is read later.
      const before = disputed;
      disputed = [];
      for (const entry of waiting) judge(entry, stages);
      waiting = [];
      before.forEach(settle);
    },

    /** Call when no process writes any more. */
    close(): void {
      disputed.forEach(settle);
      disputed = [];
    },

    fail(what: Violation['what'], schedule: number, detail: string): void {
      violations.push({ what, schedule, detail });
    },

    totals(): Totals {
      return { spends, accepted: accepted.size, inFlight, calm, refusedWhileCalm, unavailableWhileCalm };
    },
  };
}

export type Checker = ReturnType<typeof createChecker>;
