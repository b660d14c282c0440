import type { Budget } from './metrics.ts';

/** A process takes on no more of something now; the same may be asked again in a moment. */
export class BusyError extends Error {
  readonly code = 'busy';
  readonly budget: Budget;

  constructor(budget: Budget) {
    super(`the budget of ${budget} is used up`);
    this.name = 'BusyError';
    this.budget = budget;
  }
}
