import type { RoleGrants, TableGrant } from './grant.ts';
import type { Granted, Privileges } from './read-privileges.ts';

/**
 * The privileges of the connection beyond those that the service needs, as text for the operator; empty if there are
 * none. Checked at start: a signer that runs as the owner works, but once compromised it exposes the whole database.
 */
export function excessPrivileges(privileges: Privileges, needed: RoleGrants): string[] {
  const { attributes, owned } = privileges;
  const { others, reads, writes } = beyond(privileges, needed);
  const who = privileges.role;
  return [
    ...attributes.map((attribute) => `${who} has the attribute ${attribute}`),
    ...others.map((name) => `${who} is a member of ${name}`),
    ...(owned.length === 0 ? [] : [`${who} owns ${some(owned, 'table')}`]),
    ...(reads.length === 0 ? [] : [`${who} may read ${some(reads, 'column')}`]),
    ...(writes.length === 0 ? [] : [`${who} may write ${some(writes, 'table')}`]),
    ...(privileges.mayCreateTables ? [`${who} may create tables`] : []),
    ...(privileges.mayCreateTemporaryTables ? [`${who} may create temporary tables`] : []),
    ...(privileges.mayCreateSchemas ? [`${who} may create schemas`] : []),
    ...(privileges.login === who ? [] : [`the login is ${privileges.login}, which only switched to ${who}`]),
  ];
}

/**
 * What revokes privileges of the login itself, of its group and of everyone: SQL, and `ori-admin migrate` if the group
 * was granted too much of a table. A login that is an owner or a superuser keeps its privileges: the service needs
 * another login.
 *
 * @param group what the role itself was granted
 */
export function fixPrivileges(privileges: Privileges, needed: RoleGrants, group: Granted): string[] {
  const { attributes, owned, login } = privileges;
  const { role } = needed;
  const name = role.replace('ori_', '');
  const database = quoted(privileges.database);
  if (login !== privileges.role || owned.length > 0 || attributes.length > 0) {
    return [
      `CREATE ROLE ${name} LOGIN PASSWORD '…' IN ROLE ${role};`,
      `GRANT CONNECT ON DATABASE ${database} TO ${name};`,
    ];
  }
  const who = `${quoted(login)}, ${role}`;
  const ofGroup = beyond({ ...group, memberships: [] }, needed);
  const { others, reads, writes } = beyond(privileges, needed);
  const tables = new Set([...writes, ...reads.map((column) => column.split('.')[0] ?? column)]);
  return [
    ...others.map((other) => `REVOKE ${quoted(other)} FROM ${who};`),
    ...(tables.size === 0
      ? []
      : [`REVOKE ALL ON ${[...tables].map(quoted).join(', ')} FROM ${quoted(login)}, PUBLIC;`]),
    ...(ofGroup.reads.length + ofGroup.writes.length === 0
      ? []
      : [`ori-admin migrate  # gives ${role} exactly what it needs`]),
    ...(privileges.mayCreateTables ? [`REVOKE CREATE ON SCHEMA public FROM ${who}, PUBLIC;`] : []),
    ...(privileges.mayCreateTemporaryTables
      ? [`REVOKE TEMPORARY ON DATABASE ${database} FROM ${who}, PUBLIC;`]
      : []),
    ...(privileges.mayCreateSchemas ? [`REVOKE CREATE ON DATABASE ${database} FROM ${who}, PUBLIC;`] : []),
  ];
}

type Judged = Granted & Pick<Privileges, 'memberships'>;

function beyond({ memberships, readable, writable }: Judged, { role, tables }: RoleGrants) {
  const mayRead = (column: string): boolean => {
    const [table = '', name = ''] = column.split('.');
    const select = tables[table]?.select ?? [];
    return select === true || select.includes(name);
  };
  return {
    others: memberships.filter((name) => name !== role),
    reads: readable.filter((column) => !mayRead(column)),
    writes: writable.filter((table) => !mayWrite(tables[table])),
  };
}

/** Whether the grant changes a table's rows in any way. */
export function mayWrite(grant: TableGrant | undefined): boolean {
  return grant !== undefined && (grant.insert ?? grant.update ?? grant.delete) !== undefined;
}

const NAMED = 3;

function some(names: readonly string[], what: string): string {
  const shown = names.slice(0, NAMED).join(', ');
  const more = names.length - NAMED;
  return more > 0 ? `${shown} and ${more} more ${what}${more === 1 ? '' : 's'}` : shown;
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
