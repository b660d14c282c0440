import type { Epoch } from './epoch.ts';
import type { TurnLimits, TurnScope, WindowsLeft } from './turn.ts';

/** The keys of the counters that a turn is charged to. */
export type TurnCharge = Readonly<Record<TurnScope, string>>;

export interface TurnCount {
  readonly allowed: boolean;
  /** Turns used in the window, including this one if it was allowed. */
  readonly used: number;
  readonly msBeforeReset: number;
}

/** A counter is absent if the other one refused first. */
export type TurnCounts = Readonly<Partial<Record<TurnScope, TurnCount>>>;

/** A key to set unless it exists: `SET key value PX keptMs NX`. */
export interface Claim {
  readonly key: string;
  readonly value: string;
  readonly keptMs: number;
}

/** The keys that are claimed with a turn. */
export interface Claims {
  /**
   * Claimed first, whether or not the turn is allowed. If it already exists, or in another epoch or at another time,
   * nothing else is done.
   */
  readonly first?: (Claim & { readonly epoch: Epoch }) | undefined;
  /** Claimed only with an allowed turn. */
  readonly allowed: Claim;
}

/** Why nothing was charged: `first` already exists, or is for another epoch or time. */
export type Unclaimed = 'replayed' | 'forgotten';

/** What came of a turn with claims. */
export interface ClaimedTurn {
  /** Undefined: `allowed` was not claimed, because the turn was refused or the key exists. */
  readonly outcome: 'claimed' | Unclaimed | undefined;
  /** Without meaning if nothing was charged. */
  counts(limits: TurnLimits, windowSeconds: number): TurnCounts;
}

/** By how many milliseconds less may be left of a window than was expected: this process, or Redis, stood still. */
export const UNSEEN_MS_MAX = 10_000;

/**
 * Refunds a turn to the window that it was charged to: the next one of a counter ends at least a
 * second later. Key: the counter's; argument: the expected remaining time of the window, in milliseconds.
 */
export const REFUND_SCRIPT = `
local ttl = redis.call('pttl', KEYS[1])
local unseen = ARGV[1] - ttl
if ttl > 0 and unseen > -500 and unseen < ${UNSEEN_MS_MAX} and tonumber(redis.call('get', KEYS[1])) > 0 then
  redis.call('decr', KEYS[1])
  return 1
end
return 0
`;

export interface TurnStore {
  /** Charges both counters or neither. @throws {TurnLimiterUnavailable} */
  take(charge: TurnCharge, limits: TurnLimits): Promise<TurnCounts>;
  /**
   * Charges both counters and claims the keys, atomically. Only if one server has all keys.
   *
   * @throws {TurnLimiterUnavailable}
   */
  takeAndClaim?(charge: TurnCharge, limits: TurnLimits, claims: Claims): Promise<ClaimedTurn>;
  /** Refunds a turn to both counters, each only if its window is still running. */
  refund(charge: TurnCharge, left: WindowsLeft): Promise<void>;
}

/** The store of the turn counters did not answer, so it is unknown whether a turn is free. */
export class TurnLimiterUnavailable extends Error {
  readonly code = 'turn_limiter_unavailable';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TurnLimiterUnavailable';
  }
}
