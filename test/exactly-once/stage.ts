import type { Random } from './random.ts';
import type { VerifierHandle } from './verifier-handle.ts';
import type { ClockError, VerifierTask } from './verifier-process.ts';

/** What another verifier process is started with than its predecessor. */
export interface Restart {
  readonly store?: VerifierTask['store'];
  readonly clockErrorMs?: number;
  readonly maxAgeSeconds?: number;
}

/** What a fault can do, and must report, while it runs. */
export interface Stage {
  /** The choices of this schedule. */
  readonly random: Random;
  readonly verifiers: readonly VerifierHandle[];
  /** The whole wait is in milliseconds. */
  pause(ms: number): Promise<void>;
  /** Tells every adversary that now is a good moment. */
  worst(): void;
  /** SIGKILLs a verifier process and starts another in its place. */
  restart(index: number, change?: Restart): Promise<void>;
  clock(index: number, errorMs: number): void;
  /** Lets more time pass in this world than really does. */
  sleep(ms: number): void;
  /** From now until the function given back is called, these verifiers may accept nothing. */
  unsafe(indexes?: readonly number[]): () => void;
  /** All the verifiers reach their store there from now on, or one of them. */
  goTo(url: string, index?: number): void;
  strip(stripping: 'off' | 'after' | 'before'): void;
}

/** Does harm, and ends when all is whole again. */
export type Fault = (stage: Stage) => Promise<void>;

/** A store with everything that it consists of, and what can befall it. */
export interface World extends AsyncDisposable {
  /** Where a verifier that starts now finds its store. */
  readonly store: VerifierTask['store'];
  readonly faults: Readonly<Record<string, Fault>>;
}

export const NO_ERROR: ClockError = { errorMs: 0, sleptMs: 0 };
