/** What changes rows: the transition tables that a trigger may name, and the rows that were added and removed. */
export const TRANSITIONS = [
  { operation: 'insert', rows: 'new table as fresh', changed: 'select *, 1 as n from fresh' },
  {
    operation: 'update',
    rows: 'old table as former new table as fresh',
    changed: 'select *, 1 as n from fresh union all select *, -1 from former',
  },
  { operation: 'delete', rows: 'old table as former', changed: 'select *, -1 as n from former' },
] as const;
