import { chainOf, explainSystemError } from '@ori/faces/system-error';

const NOT_PREPARED =
  'PgBouncer lost a prepared query: it must pool sessions, or have max_prepared_statements (version 1.21)';

/** What PostgreSQL's conditions, and our own, mean to an operator. */
const CONDITIONS: Readonly<Record<string, string>> = {
  outdated: 'the database is older than this version: run ori-admin migrate',
  standby: 'this server is a standby or replica: use the primary',
  '08P01': 'a pooler such as PgBouncer refused the connection or the query: see its log',
  '25006': 'the database is read-only, probably a standby: use the primary',
  '26000': NOT_PREPARED,
  '28000': 'the database rejects this login: see pg_hba.conf',
  '28P01': 'the password of the login is wrong, or there is no such login',
  '3D000': 'there is no such database',
  '42501': 'the login lacks a privilege: run ori-admin migrate',
  '42703': 'a column is missing: run ori-admin migrate',
  '42P01': 'a table is missing: run ori-admin migrate',
  '42P05': NOT_PREPARED,
  '53100': 'the disk of the server is full',
  '53300': 'the server has no free connection',
  '57P03': 'the server is starting up, or is a standby that accepts no queries',
};

/** How replies of Redis begin. */
const REDIS_REPLIES: Readonly<Record<string, string>> = {
  CLUSTERDOWN: 'the cluster does not serve all of its slots',
  LOADING: 'Redis is still loading its data',
  MISCONF: 'Redis cannot write to its disk, and accepts no writes until it can',
  NOREPLICAS: 'Redis has fewer replicas than it requires for a write',
  OOM: 'the memory is full: raise maxmemory of this Redis',
  MASTERDOWN: 'this replica has lost its master',
  NOAUTH: 'Redis requires a password',
  NOPERM: "the user's ACL lacks a permission",
  READONLY: 'this Redis is a replica: use the master',
  WRONGPASS: 'the user name or the password for Redis is wrong',
};

/**
 * Why a dependency failed, as a sentence for the operator: from codes alone, or from an error with an `explanation`, so
 * that it contains neither an address nor a secret. Undefined if nothing is known.
 */
export function explainFailure(error: unknown): string | undefined {
  let said: string | undefined;
  for (const link of chainOf(error)) {
    if ('explanation' in link && typeof link.explanation === 'string') return link.explanation;
    const code = 'code' in link ? String(link.code) : '';
    const known = CONDITIONS[code] ?? REDIS_REPLIES[/^[A-Z]+(?= )/.exec(link.message)?.[0] ?? ''];
    if (known !== undefined) return known;
    if (/^(?:E[A-Z]{3,}|ERR_[A-Z_]+|[A-Z]+_[A-Z_]+)$/.test(code) && !('path' in link)) {
      return explainSystemError(link);
    }
    if (link.name === 'TimeoutError') return 'it did not answer in time';
    // These messages contain only the origin of a public document and the fault of the answer.
    if (link.name === 'RemoteJsonError' && code !== 'unreachable') said = link.message;
  }
  return said;
}
