import pg from 'pg';

/** Has pg parse the address now, so that a wrong one fails the start instead of the first request. @throws TypeError */
export function requireAddress(url: string): void {
  try {
    if (!/^postgres(ql)?:\/\//.test(url)) throw new TypeError();
    // pg takes `a,b`, libpq's list of servers, for one name, which no resolver knows.
    if (new pg.Client({ connectionString: url }).host.includes(',')) throw new TypeError();
  } catch {
    // Without a cause: the address contains a password, which the error of the parser may quote.
    throw new TypeError(
      'url: expected postgres://user:password@host:port/database, one host, with readable certificate and key files',
    );
  }
}

/** What is wrong with an address, as `openPostgres` would refuse it at the start. Quotes nothing of it. */
export function complaintsOfAddress(variable: string, url: string): string[] {
  try {
    requireAddress(url);
    return [];
  } catch (error) {
    return [`${variable}: ${(error as Error).message.replace(/^url: /, '')}`];
  }
}
