import type { Random } from './random.ts';
import type { VerifierHandle } from './verifier-handle.ts';
import type { ClockError, VerifierTask } from './verifier-process.ts';

/** What changes when a verifier process is replaced. */
export interface Restart {
  readonly store?: VerifierTask['store'];
  readonly clockErrorMs?: number;
  readonly maxAgeSeconds?: number;
}

/** What a fault can do while it runs, and what it must report. */
export interface Stage {
  /** The random source of this schedule. */
  readonly random: Random;
  readonly verifiers: readonly VerifierHandle[];
  /** Waits for `ms` milliseconds. */
  pause(ms: number): Promise<void>;
  /** Tells every adversary to present its most promising proofs now. */
  worst(): void;
  /** Kills a verifier process with SIGKILL and starts another in its place. */
  restart(index: number, change?: Restart): Promise<void>;
  clock(index: number, errorMs: number): void;
  /** Advances the time of this world beyond real time. */
  sleep(ms: number): void;
  /** From now until the returned function is called, these verifiers must not accept anything. */
  unsafe(indexes?: readonly number[]): () => void;
  /** For a random time between these, none of the verifiers may accept what the adversaries then present. */
  refuses(lowMs: number, highMs: number, indexes?: readonly number[]): Promise<void>;
  /** Points the verifiers to this address one by one, as they learn of it. */
  moveAll(url: string): Promise<void>;
  /** Points all verifiers, or one of them, to the store at this address. */
  goTo(url: string, index?: number): void;
  strip(stripping: 'off' | 'after' | 'before'): void;
}

/** Injects a fault and resolves once it has been repaired. */
export type Fault = (stage: Stage) => Promise<void>;

/** A store, its servers, and the faults that can be injected. */
export interface World extends AsyncDisposable {
  /** The store of a verifier that starts now. */
  readonly store: VerifierTask['store'];
  readonly faults: Readonly<Record<string, Fault>>;
}

export const NO_ERROR: ClockError = { errorMs: 0, sleptMs: 0 };
