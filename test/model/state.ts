/** Everything there is at one moment. Time is counted in units of half a minute; nobody in the model knows `time` but the adversary. */
export interface State {
  readonly time: number;
  /** How far the signer's clock is from `time`. */
  readonly signerClock: number;
  readonly keys: readonly (readonly Key[])[];
  readonly reservations: readonly Reservation[];
  readonly proofs: readonly Proof[];
  readonly verifiers: readonly Verifier[];
  /** Redis servers; empty if the store is in memory. */
  readonly servers: readonly Server[];
  readonly memory: Memory | undefined;
  /** What the adversary may still do. */
  readonly faultsLeft: number;
  readonly seen: Seen;
}

/** What is true of the past and nobody in the model knows: it is what the invariants are about. */
export interface Seen {
  /** How often each proof was accepted. */
  readonly accepted: readonly { readonly v1: number; readonly v2: number }[];
  /** Proofs that a lost answer, or a presentation as version 1, may have used up. */
  readonly touched: readonly number[];
  /** The last time anything broke. */
  readonly faultAt: number;
  readonly reservationsLost: boolean;
  /** Per verifier: whether its last check of the store reported unsafe. */
  readonly warned: readonly boolean[];
}

/** Good for timestamps from `nbf` up to, but not including, `exp`. */
export interface Key {
  readonly id: number;
  readonly nbf: number;
  readonly exp: number;
}

export interface Reservation {
  readonly intern: number;
  readonly nonce: number;
  readonly value: string;
  readonly until: number;
}

/** Two signatures that the signer issued together, or that someone made with a stolen key. */
export interface Proof {
  readonly intern: number;
  readonly at: number;
  readonly user: number;
  readonly body: number;
  readonly path: number;
  readonly nonce: number;
  readonly key: number;
  readonly issued: boolean;
}

export interface Verifier {
  /** How far its clock is from `time`. */
  readonly clock: number;
  /** The newest fence in a valid reply. */
  readonly newest: number;
  /** The last look at the store found it unsafe. */
  readonly refuses: boolean;
  /** The server it reaches. */
  readonly server: number;
  /** A proof with acceptable headers whose body is still arriving. */
  readonly open: { readonly proof: number; readonly judgedAt: number } | undefined;
}

export interface Server {
  readonly replicationId: number;
  /** The server it copies from; undefined for a primary. */
  readonly follows: number | undefined;
  /** Cut: what it should copy does not arrive, and its primary has not noticed. */
  readonly cut: boolean;
  /** Replicas that are gone and still counted as fresh. */
  readonly phantoms: number;
  readonly evicts: boolean;
  readonly clock: number;
  readonly sets: readonly SpentSet[];
  /** The contents that SWAPDB swaps in. */
  readonly aside: readonly SpentSet[];
}

/** The sorted set of one intern. */
export interface SpentSet {
  readonly fence: { readonly name: number; readonly at: number } | undefined;
  readonly floor: number;
  readonly v1From: number | undefined;
  readonly ids: Ids;
}

/** Spent ids and marks, each with its timestamp. */
export type Ids = Readonly<Record<string, number>>;

export interface Memory {
  readonly born: { readonly wall: number; readonly time: number };
  readonly ledgers: readonly Ledger[];
}

export interface Ledger {
  readonly floor: number;
  readonly highest: number;
  readonly marksFrom: number | undefined;
  readonly ids: Ids;
}

/** Long before everything. */
export const LONG_AGO = -9;

export const EMPTY_SET: SpentSet = { fence: undefined, floor: -99, v1From: undefined, ids: {} };

/** The entry at `index`, which must be there. */
export function entry<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new RangeError(`no entry ${index} of ${list.length}`);
  return found;
}

/** The list with another entry at `index`. */
export function replaced<T>(list: readonly T[], index: number, value: T): T[] {
  return list.map((old, position) => (position === index ? value : old));
}

/** With further ids, those that are there already left as they are; in one order, so that equal sets have equal texts. */
export function withIds(ids: Ids, added: readonly string[], at: number): Ids {
  const all = { ...Object.fromEntries(added.map((id) => [id, at])), ...ids };
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
}
