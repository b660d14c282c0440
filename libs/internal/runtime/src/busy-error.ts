import type { Budget } from './budget.ts';

/** A limit on concurrent work was reached. The request may be repeated shortly. */
export class BusyError extends Error {
  readonly code = 'busy';
  readonly budget: Budget;

  constructor(budget: Budget) {
    super(`the budget "${budget}" is exhausted`);
    this.name = 'BusyError';
    this.budget = budget;
  }
}
