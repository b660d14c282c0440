import type { Presentation } from './history.ts';

/** Something that must never be. */
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

/** What is known of a schedule once it is over; times are Unix milliseconds. */
export interface Stages {
  readonly schedule: number;
  /** From here nothing is wrong any more, or not yet: the schedule starts. */
  readonly calmFromMs: number;
  readonly faultFromMs: number;
  readonly faultUntilMs: number;
  /** When the last of the verifiers had accepted a fresh proof again. */
  readonly recoveredMs: number;
  readonly overMs: number;
  /** While these last, nothing may be accepted by the verifiers named. */
  readonly unsafe: readonly {
    readonly verifier: string;
    readonly fromMs: number;
    readonly untilMs: number;
  }[];
}

export interface Totals {
  readonly spends: number;
  readonly accepted: number;
  /** How many presentations were under way when a fault began. */
  readonly inFlight: number;
  /** Fresh proofs presented while nothing was wrong. */
  readonly calm: number;
  /** Of those: refused, by code; and unanswered or unsure, by code. */
  readonly refusedWhileCalm: Readonly<Record<string, number>>;
  readonly unavailableWhileCalm: Readonly<Record<string, number>>;
}

interface Disputed {
  readonly id: string;
  readonly verdict: string;
  readonly schedule: number;
  readonly verifier: string;
}

/** Codes for a store that could not be reached, which a busy machine alone can cause. */
const UNAVAILABLE = /^(?:replay_store|keys)_/;

/**
 * A recovery is in time by the clock on the wall. One that is late because a verifier had no processor for more than half of it has a
 * word of its own: it says more of the machine than of the store.
 */
export function judgeRecovery(
  { recoveryMs, waitedMs }: { recoveryMs: number; waitedMs: number },
  recoveryMsMax: number,
): Violation['what'] | undefined {
  if (recoveryMs <= recoveryMsMax) return undefined;
  return waitedMs > recoveryMs / 2 ? 'late on a busy machine' : 'no recovery in time';
}

/** Being late is no sign of a broken guard. */
export function isLateness({ what }: Pick<Violation, 'what'>): boolean {
  return what === 'no recovery in time' || what === 'late on a busy machine';
}

/** Judges the histories of all processes of one world. Give it every presentation, then the stages of the schedule they fell into. */
export function createChecker() {
  const accepted = new Map<string, string>();
  const violations: Violation[] = [];
  const refusedWhileCalm: Record<string, number> = {};
  const unavailableWhileCalm: Record<string, number> = {};
  let waiting: { verifier: string; presentation: Presentation }[] = [];
  let spends = 0;
  let inFlight = 0;
  let calm = 0;
  /** Fresh proofs that were called replays while all was calm: right if a copy was accepted, or may have been. */
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

    /** `verifier` names the process; `schedule` is the one under way. */
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

    /** Checks what needs the whole schedule. */
    conclude(stages: Stages): void {
      // A copy may have been accepted by a process whose history is read later.
      const before = disputed;
      disputed = [];
      for (const entry of waiting) judge(entry, stages);
      waiting = [];
      before.forEach(settle);
    },

    /** Once no process writes any more. */
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
