export type TurnScope = 'user' | 'organization';

/** The remaining time of the windows that a turn was charged to, in milliseconds. */
export type WindowsLeft = Readonly<Record<TurnScope, number>>;

/** Turns in a window. */
export type TurnLimits = Readonly<Record<TurnScope, number>>;

/** Whether a turn may be taken; everything else describes the scope that is nearest to its limit. */
export interface TurnVerdict {
  readonly allowed: boolean;
  readonly scope: TurnScope;
  readonly remaining: number;
  /** Until the scope's window ends; whole seconds, at least 1. */
  readonly resetSeconds: number;
  /** On a refusal: after how long a turn may be free again; whole seconds, at least 1. */
  readonly retryAfterSeconds?: number;
  readonly limits: TurnLimits;
  readonly windowSeconds: number;
  /** On an allowed turn: when its windows end, in the time of `performance.now()`. */
  readonly windowEnds?: WindowsLeft;
}

/** Whose turn it is. */
export interface TurnTaker {
  readonly userId: string;
  readonly organizationId: string;
  /** The organization's own limits, which replace the limiter's. */
  readonly limits?: { readonly user?: number; readonly organization?: number } | undefined;
}
