import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable, unavailable } from '@ori/postgres/store-unavailable';
import type pg from 'pg';
import { excessPrivileges, fixPrivileges } from './excess-privileges.ts';
import { GRANTS_AS_OF, type RoleGrants } from './grant.ts';
import {
  GRANTED_QUESTION,
  type Granted,
  PRIVILEGES_QUESTION,
  type Privileges,
  privilegesOf,
} from './read-privileges.ts';

/**
 * The login has more privileges than its service needs. A compromised service must not give an attacker the database.
 */
export class OverprivilegedLogin extends StoreUnavailable {
  override readonly name = 'OverprivilegedLogin';
  /** The excess privileges, one line each. */
  readonly excess: readonly string[];
  /** What revokes them: SQL, or `ori-admin migrate`. */
  readonly fix: readonly string[];

  constructor(excess: readonly string[], fix: readonly string[]) {
    super('overprivileged', 'The login may do more than the service needs.');
    this.excess = excess;
    this.fix = fix;
  }

  /** Lines for the operator, under the variable that names the login. */
  problems(variable: string): string[] {
    return [
      `${variable}: this login may do more than the service needs`,
      ...this.excess.map((line) => `  ${line}`),
      'fix it with',
      ...this.fix.map((line) => `  ${line}`),
    ];
  }
}

/** How long a positive result is reused for other connections of the same login, in milliseconds. */
const REMEMBERED_MS = 60_000;

/**
 * For a pool: checks a connection, and its login at most once a minute, before any other query runs on it. Connections opened at the same time share one
 * result. A standby is refused, because a lagging one would still accept users who have been disabled; and a database
 * older than this version, so that a roll-out waits for `ori-admin migrate`.
 *
 * @throws OverprivilegedLogin, StoreUnavailable `standby`, `outdated`, and any error of the query
 */
export function createLoginCheck(needed: RoleGrants): (client: pg.ClientBase) => Promise<void> {
  let goodUntil = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;

  async function check(client: pg.ClientBase): Promise<void> {
    const { rows } = await client.query<Privileges>(PRIVILEGES_QUESTION);
    const all = privilegesOf(rows);
    if (all.grantsAsOf < GRANTS_AS_OF) throw unavailable('outdated');
    if (excessPrivileges(all, needed).length > 0) {
      const group = await grantedTo(client, needed);
      const privileges = beyondNewerGrants(all, group);
      const excess = excessPrivileges(privileges, needed);
      if (excess.length > 0) throw new OverprivilegedLogin(excess, fixPrivileges(privileges, needed, group));
    }
    goodUntil = performance.now() + REMEMBERED_MS;
  }

  return async (client) => {
    await requirePrimary(client);
    if (performance.now() < goodUntil) return;
    checking ??= check(client).finally(() => {
      checking = undefined;
    });
    await checking;
  };
}

async function grantedTo(client: pg.ClientBase, { role }: RoleGrants): Promise<Granted> {
  const { rows } = await client.query<Granted>(GRANTED_QUESTION, [role]);
  return rows[0] ?? { readable: [], writable: [] };
}

/** Ignores what a newer version of `migrate` granted the role itself: during an upgrade, and after a rollback of the services. */
function beyondNewerGrants(privileges: Privileges, group: Granted): Privileges {
  if (privileges.grantsAsOf <= GRANTS_AS_OF) return privileges;
  return {
    ...privileges,
    readable: privileges.readable.filter((column) => !group.readable.includes(column)),
    writable: privileges.writable.filter((table) => !group.writable.includes(table)),
  };
}

/** Checked at every call, because the server behind an address can change at any time. */
async function requirePrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
  if (rows[0]?.standby !== false) {
    throw unavailable('standby');
  }
}

/** How long a start retries a server that does not answer, and how long it waits between attempts, in milliseconds. */
const PATIENCE_MS = 1000;
const AGAIN_MS = 50;

/**
 * For a start: retries until the login was checked, because a busy server may answer late once.
 *
 * @param ping runs a query on a checked connection
 * @returns undefined if the login is acceptable, or if the server did not answer: it is then checked at its first connection
 */
export async function overprivilegedLogin(
  ping: () => Promise<unknown>,
  patienceMs = PATIENCE_MS,
): Promise<OverprivilegedLogin | undefined> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const error: unknown = await ping().then(
      () => undefined,
      (failure: unknown) => failure,
    );
    if (error instanceof OverprivilegedLogin) return error;
    if (error === undefined || performance.now() >= untilMs) return undefined;
    await pause(AGAIN_MS);
  }
}
