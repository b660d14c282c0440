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
