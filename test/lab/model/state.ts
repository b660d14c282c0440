/** The state of the whole system. Time is in units of 30 s. Only the adversary knows `time`. */
export interface State {
  readonly time: number;
  /** The offset of the signer's clock from `time`. */
  readonly signerClock: number;
  readonly keys: readonly (readonly Key[])[];
  readonly reservations: readonly Reservation[];
  readonly proofs: readonly Proof[];
  readonly verifiers: readonly Verifier[];
  /** Redis servers; empty if the store is in memory. */
  readonly servers: readonly Server[];
  readonly memory: Memory | undefined;
  /** The number of faults that the adversary may still cause. */
  readonly faultsLeft: number;
  readonly seen: Seen;
}

/** The history, which no party of the model knows. The invariants are stated over it. */
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

/** Valid for timestamps from `nbf` up to, but not including, `exp`. */
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
  /** The offset of its clock from `time`. */
  readonly clock: number;
  /** The newest fence in a valid reply. */
  readonly newest: number;
  /** Whether the last check of the store found it unsafe. */
  readonly refuses: boolean;
  /** The server it reaches. */
  readonly server: number;
  /** A proof with acceptable headers whose body is still arriving. */
  readonly open: { readonly proof: number; readonly judgedAt: number } | undefined;
}

export interface Server {
  readonly replicationId: number;
  /** The server that it replicates. Undefined for a primary. */
  readonly follows: number | undefined;
  /** Disconnected: it receives no updates, and its primary has not noticed. */
  readonly cut: boolean;
  /** Former replicas that still count as fresh. */
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

/** Spent ids and markers, each with its timestamp. */
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

/** Long before any other time. */
export const LONG_AGO = -9;

export const EMPTY_SET: SpentSet = { fence: undefined, floor: -99, v1From: undefined, ids: {} };

/** The entry at `index`, which must exist. */
export function entry<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new RangeError(`no entry ${index} of ${list.length}`);
  return found;
}

/** A copy of the list with the entry at `index` replaced. */
export function replaced<T>(list: readonly T[], index: number, value: T): T[] {
  return list.map((old, position) => (position === index ? value : old));
}

/** Adds ids without changing existing ones. Sorted, so that equal sets have equal encodings. */
export function withIds(ids: Ids, added: readonly string[], at: number): Ids {
  const all = { ...Object.fromEntries(added.map((id) => [id, at])), ...ids };
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
}
