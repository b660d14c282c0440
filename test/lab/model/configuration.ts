import type { Guard } from './mutants.ts';

/** The bounds of an exploration: the parties, their settings, and the adversary's abilities. */
export interface Configuration {
  readonly store: 'memory' | 'redis';
  readonly mode: 'spend' | 'redeem';
  readonly verifiers: readonly { readonly intern: number; readonly acceptV1: boolean }[];
  readonly interns: number;
  /** One key signs for all interns, so that only the signing input distinguishes them. */
  readonly sharedKey: boolean;
  readonly servers: number;
  /** The number of replicas that every verifier is configured with. */
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
  /** Offsets, in units, to which one verifier's clock, or all clocks together, can be set. */
  readonly clocks: readonly number[];
  readonly streams: boolean;
  /** When the first keys end and others begin. */
  readonly rotatesAt: number | undefined;
  /** Units after the last fault until a fresh proof must be accepted. */
  readonly recoversWithin: number;
  /** Guards that are removed. */
  readonly broken: ReadonlySet<Guard>;
}

/** A proof that a member can request from the signer, or that a thief can forge with a stolen key. */
export interface Issue {
  readonly intern: number;
  readonly user: number;
  readonly body: number;
  readonly path: number;
  /** `again`: the random source repeats a value. */
  readonly draw: 'fresh' | 'again';
  /** By the signer, or by a thief with its key, without a reservation. */
  readonly by: 'signer' | 'thief' | 'thief-of-old-key' | 'thief-of-next-key';
}

/** What is sent: both signatures, or only version 1. */
export type Form = 'pair' | 'stripped';
/** How the network changes it. `forged` keeps the nonce and has an invalid signature. */
export type Change = 'none' | 'user' | 'body' | 'path' | 'method' | 'nonce' | 'at' | 'forged';
/** What happens to the request to the store and its answer. */
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
/** How long the signer keeps a reservation: the maximum age, the clock tolerance, and the time of a body. */
export const KEPT = MAX_AGE + TOLERANCE + STREAM;
