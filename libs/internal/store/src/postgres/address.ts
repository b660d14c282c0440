import pg from 'pg';

/** Lets pg parse the address, so that an invalid one fails the start instead of the first request. @throws TypeError */
export function requireAddress(url: string): void {
  try {
    if (!/^postgres(ql)?:\/\//.test(url)) throw new TypeError();
    // pg treats `a,b`, libpq's list of servers, as one name, which does not resolve.
    if (new pg.Client({ connectionString: url }).host.includes(',')) throw new TypeError();
  } catch {
    // Without a cause: the parser's error may quote the address, which contains a password.
    throw new TypeError(
      'url: expected postgres://user:password@host:port/database, one host, with readable certificate and key files',
    );
  }
}

/** Why `openPostgres` would refuse an address, or an empty list. Quotes no part of it. */
export function complaintsOfAddress(variable: string, url: string): string[] {
  try {
    requireAddress(url);
    return [];
  } catch (error) {
    return [`${variable}: ${(error as Error).message.replace(/^url: /, '')}`];
  }
}
