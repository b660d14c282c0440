import type { Guard } from './guards.ts';

/** Bounds of one exploration: who is there, what they were told, and what the adversary can do. */
export interface Configuration {
  readonly store: 'memory' | 'redis';
  readonly mode: 'spend' | 'redeem';
  readonly verifiers: readonly { readonly intern: number; readonly acceptV1: boolean }[];
  readonly interns: number;
  /** One key signs for all interns: what is signed must tell them apart by itself. */
  readonly sharedKey: boolean;
  readonly servers: number;
  /** Replicas that every verifier is told of. */
  readonly replicas: number;
  readonly entriesMax: number;
  /** The last unit of time. */
  readonly timeMax: number;
  readonly proofsMax: number;
  readonly faultsMax: number;
  readonly issues: readonly Issue[];
  readonly forms: readonly Form[];
  readonly changes: readonly Change[];
  readonly answers: readonly Delivery[];
  readonly faults: readonly Fault[];
  /** Units that a verifier's clock can be moved to, and where all clocks can be moved to together. */
  readonly clocks: readonly number[];
  readonly streams: boolean;
  /** When the first keys end and others begin. */
  readonly rotatesAt: number | undefined;
  /** Units after the last fault until a fresh proof must be accepted. */
  readonly recoversWithin: number;
  /** Guards that are left out. */
  readonly broken: ReadonlySet<Guard>;
}

/** What a member may ask the signer for, or a thief make. */
export interface Issue {
  readonly intern: number;
  readonly user: number;
  readonly body: number;
  readonly path: number;
  /** `again`: the random source repeats itself. */
  readonly draw: 'fresh' | 'again';
  /** By the signer, or with its key in the hands of a thief, who reserves nothing. */
  readonly by: 'signer' | 'thief' | 'thief-of-old-key' | 'thief-of-next-key';
}

/** What travels: both signatures, or version 1 alone. */
export type Form = 'pair' | 'stripped';
/** What the network makes of it. `forged` keeps the nonce and has a signature by nobody. */
export type Change = 'none' | 'user' | 'body' | 'path' | 'method' | 'nonce' | 'at' | 'forged';
/** What becomes of the question to the store and its answer. */
export type Delivery = 'arrives' | 'question-lost' | 'answer-lost' | 'cut-short';
export type Fault =
  | 'flush'
  | 'crash'
  | 'swap'
  | 'policy'
  | 'restart'
  | 'cut'
  | 'promote'
  | 'follow'
  | 'reroute'
  | 'verifier-clock'
  | 'signer-clock'
  | 'all-clocks';

/** In units. The real ones are whole seconds: a unit of 30 makes 60, 30 and 30 of these. */
export const MAX_AGE = 2;
export const TOLERANCE = 1;
export const STREAM = 1;
export const RETENTION = MAX_AGE + TOLERANCE + STREAM;
/** How long the signer keeps a reservation: the greatest age, and clocks apart both ways. */
export const KEPT = MAX_AGE + 2 * TOLERANCE;
