import type { Environment } from '@ori/runtime/config';
import type { Database } from '@ori/store/database';
import { createLoginCheck } from '@ori/store/login';
import { GRANTS_AS_OF } from '@ori/store/migrate';
import { openPostgres } from '@ori/store/postgres';
import { readPrivileges } from '@ori/store/privileges';
import type { RoleGrants } from '@ori/store/privileges/grant';
import { MANAGEMENT } from '@ori/store/privileges/management';
import { SIGNER } from '@ori/store/privileges/signer';
import { CheckFailed, requireClock } from './finding.ts';
import { DATABASE, loadPart, type Prefix } from './settings.ts';

/** `now`: milliseconds since the epoch. */
const SERVER_FACTS = `
  select pg_is_in_recovery() as standby, current_setting('server_version') as version,
    extract(epoch from clock_timestamp())::float8 * 1000 as now`;

/** The server as the operator's login sees it: a primary, at this version, with the same time. */
export async function lookAtServer(db: Database): Promise<string> {
  const [facts] = await db.query<{ standby: boolean; version: string; now: number }>(SERVER_FACTS);
  if (facts === undefined) throw new TypeError('the server did not describe itself');
  const { standby, version, now } = facts;
  if (standby) throw new CheckFailed('the server is a standby', 'set the address of the primary');
  requireClock('PostgreSQL', now);
  const { grantsAsOf } = await readPrivileges(db);
  if (grantsAsOf < GRANTS_AS_OF) {
    const at = grantsAsOf === '' ? 'not migrated' : `at ${grantsAsOf}`;
    throw new CheckFailed(
      `the database is ${at}, and this version needs ${GRANTS_AS_OF}`,
      'run ori-admin migrate',
    );
  }
  return `PostgreSQL ${version}, primary, at ${grantsAsOf}`;
}

/** The keys that the key sets have, for calls and for answers. */
const STATEMENTS = `
  select count(*)::int as keys, count(statement)::int as stated from (
    select statement from signing_keys
    where retired_at is null and coalesce(expires_at > extract(epoch from now()), true)
    union all
    select key ->> 'statement' from interns, jsonb_array_elements(answer_keys) as key
  ) as published`;

/** That each key carries a statement, if any does: the signer of a deployment with a root publishes no other. */
export async function lookAtStatements(db: Database): Promise<string> {
  const [facts] = await db.query<{ keys: number; stated: number }>(STATEMENTS);
  const { keys = 0, stated = 0 } = facts ?? {};
  if (stated === 0) return `${keys} keys, and no root`;
  if (stated === keys) return `${keys} keys, each stated for daemons that pin the root`;
  throw new CheckFailed(
    `${keys - stated} of ${keys} keys for calls and answers are not stated, so they are not published`,
    'if you added them, ori-admin root state --all; otherwise revoke them, or correct answer_keys',
  );
}

/** The login of a service: that it connects, and has no more privileges than it needs. */
export async function lookAtLogin(prefix: Prefix, env: Environment): Promise<string> {
  const needed = prefix === 'SIGNER' ? SIGNER : MANAGEMENT;
  const { role } = needed;
  const { databaseUrl } = loadPart(prefix, DATABASE, env);
  const db = open(prefix, databaseUrl.reveal(), needed);
  try {
    const { login, memberships } = await readPrivileges(db);
    if (!memberships.includes(role)) {
      throw new CheckFailed(`${login} is not a member of ${role}`, `GRANT ${role} TO ${login};`);
    }
    return `${login} may do what ${role} may, and no more`;
  } finally {
    await db.close();
  }
}

function open(prefix: Prefix, url: string, needed: RoleGrants): Database {
  const check = createLoginCheck(needed);
  try {
    return openPostgres({ url, check, poolMax: 1, connectTimeoutMs: 5000, applicationName: 'ori-admin' });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const problem = error.message.replace(/^url: /, '');
    throw new CheckFailed(`${prefix}_DATABASE_URL: ${problem}`, 'correct the setting');
  }
}
