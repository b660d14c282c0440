declare const MADE_BY: unique symbol;

/** What only one stage makes. */
export interface Made<By extends string> {
  readonly [MADE_BY]: By;
}

/** Makes what the file that calls it declares; `npm run check` allows nothing else. The mark is a type alone. */
export const made = <Result extends Made<string>>(facts: Omit<Result, typeof MADE_BY>): Result =>
  facts as Result;
