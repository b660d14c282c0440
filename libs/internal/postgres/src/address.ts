import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';

/**
 * Lets pg parse the address, so that an invalid one fails the start instead of the first request.
 *
 * @throws TypeError also for an address, or a `PGSSLMODE`, with which TLS would take any certificate
 */
export function requireAddress(url: string): void {
  const { host, ssl } = clientOf(url);
  // pg treats `a,b`, libpq's list of servers, as one name, which does not resolve.
  if (host.includes(',')) throw new TypeError(EXPECTED);
  if (typeof ssl === 'object' && ssl.rejectUnauthorized === false) throw new TypeError(UNVERIFIED);
}

const EXPECTED =
  'url: expected postgres://user:password@host:port/database, one host, with readable certificate and key files';
const UNVERIFIED =
  'url: does not verify the certificate of the server; use sslmode=verify-full, with sslrootcert=FILE for its authority';

function clientOf(url: string): { readonly host: string; readonly ssl: boolean | ConnectionOptions } {
  try {
    if (!/^postgres(ql)?:\/\//.test(url)) throw new TypeError();
    return new pg.Client({ connectionString: url });
  } catch {
    // Without a cause: the parser's error may quote the address, which contains a password.
    throw new TypeError(EXPECTED);
  }
}

/** Why `openPostgres` would refuse an address, or an empty list. Quotes no part of it. */
export function problemsOfAddress(variable: string, url: string): string[] {
  try {
    requireAddress(url);
    return [];
  } catch (error) {
    return [`${variable}: ${(error as Error).message.replace(/^url: /, '')}`];
  }
}
