/** Runs one statement of plain SQL. Every failure to reach the database is thrown as `StoreUnavailable`. */
export interface Statements {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** A pool of connections to a server. */
export interface StatementPool extends Statements {
  /** Closes every connection; waits at most a second for a server that does not answer. */
  close(): Promise<void>;
  /** The current state of the pool. */
  connections(): ConnectionCounts;
}

export interface ConnectionCounts {
  readonly open: number;
  /** The idle ones among them. */
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}
