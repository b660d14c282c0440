/** The budgets for concurrent work, each counted separately. */
export const BUDGETS = [
  'process',
  'address',
  'connection',
  'account',
  'connections',
  'bodies',
  'answers',
  'write_time',
  'patterns',
  'introspections',
  'work',
  'overload',
] as const;
export type Budget = (typeof BUDGETS)[number];

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
