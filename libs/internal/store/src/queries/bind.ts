import type { Database } from '../database.ts';

type Query = (db: Database, ...rest: never[]) => unknown;
type Bound<Queries> = {
  readonly [Name in keyof Queries]: Queries[Name] extends (db: Database, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** The queries without their first parameter. */
export function bind<Queries extends Readonly<Record<string, Query>>>(
  db: Database,
  queries: Queries,
): Bound<Queries> {
  const bound = Object.entries(queries).map(([name, query]) => [
    name,
    (...rest: never[]) => query(db, ...rest),
  ]);
  return Object.fromEntries(bound) as Bound<Queries>;
}
