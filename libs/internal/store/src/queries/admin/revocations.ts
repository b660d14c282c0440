import type { AuditEntry } from './admin-audit.ts';

type Facts = Readonly<Record<string, unknown>>;

interface Revocation {
  readonly column: string;
  /** Whether the new value, set at this time, revokes something. */
  takes(value: unknown, at: string): boolean;
  command(row: readonly string[], after: Facts): string;
}

const isSet = (value: unknown): boolean => value !== null;

/** Between the clocks of the database and of the operator, by which a retired key ends. */
const CLOCK_TOLERANCE_MS = 5000;
const hasPassed = (seconds: unknown, at: string): boolean =>
  typeof seconds === 'number' && seconds * 1000 <= Date.parse(at) + CLOCK_TOLERANCE_MS;

/** The columns that can revoke something, and the command that repeats it. */
const REVOCATIONS: Readonly<Record<string, readonly Revocation[]>> = {
  users: [{ column: 'disabled_at', takes: isSet, command: ([id]) => `user disable ${id}` }],
  api_keys: [{ column: 'disabled_at', takes: isSet, command: ([hash]) => `key disable ${hash}` }],
  members: [
    {
      column: 'removed_at',
      takes: isSet,
      command: ([workspace, user]) => `member remove ${workspace} ${user}`,
    },
    {
      column: 'sessions_valid_from',
      takes: isSet,
      command: ([workspace, user], after) =>
        `member revoke-sessions ${user} --workspace ${workspace} --before ${after['sessions_valid_from']} --yes`,
    },
  ],
  signing_keys: [
    // A rotation sets an end in the future.
    { column: 'expires_at', takes: hasPassed, command: ([id]) => `signing-key retire ${id} --yes` },
    { column: 'retired_at', takes: isSet, command: ([id]) => `signing-key revoke ${id} --yes` },
  ],
  byok_credentials: [
    { column: 'disabled', takes: (value) => value === true, command: ([id]) => `byok disable ${id}` },
  ],
  switches: [{ column: 'enabled', takes: (value) => value === false, command: () => 'lifecycle off' }],
  workspaces: [
    { column: 'deleted_at', takes: isSet, command: ([id]) => `workspace delete ${id} --yes` },
    {
      column: 'in_programme',
      takes: (value) => value === false,
      command: ([id]) => `programme remove ${id}`,
    },
  ],
};

const DELETIONS: Readonly<Record<string, (before: Facts) => string>> = {
  interns: ({ id }) => `intern delete ${id} --yes`,
  users: ({ id }) => `user delete ${id} --yes`,
  user_subjects: ({ issuer, subject }) => `user unlink ${quoted(subject)} --issuer ${quoted(issuer)}`,
  byok_credentials: ({ id }) => `byok delete ${id} --yes`,
  organizations: ({ id }) => `org delete ${id} --yes`,
};

const quoted = (value: unknown): string => `'${String(value).replaceAll("'", "'\\''")}'`;

/**
 * The shell commands that repeat, in order, the revocations among these changes that no later one undid; for a database
 * that was restored from an earlier backup. They can be run again: one whose object does not exist (exit code 3), because
 * it was lost too or is deleted already, succeeds.
 *
 * @param entries oldest first
 */
export function revocationsOf(entries: readonly AuditEntry[]): string[] {
  const commands = new Map<string, string>();
  for (const { table_name, row_key, operation, before, after, at } of entries) {
    const place = `${table_name} ${row_key}`;
    if (operation === 'delete' || operation === 'insert') {
      for (const key of [...commands.keys()]) if (key.startsWith(`${place} `)) commands.delete(key);
      const command = operation === 'delete' ? DELETIONS[table_name]?.(before ?? {}) : undefined;
      if (command !== undefined) commands.set(`${place} deleted`, command);
    }
    if (operation !== 'update' || after === null) continue;
    for (const { column, takes, command } of REVOCATIONS[table_name] ?? []) {
      if (!(column in after)) continue;
      const key = `${place} ${column}`;
      commands.delete(key);
      if (takes(after[column], at)) commands.set(key, command(row_key.split(' '), after));
    }
  }
  return [...commands.values()].map((command) => `ori-admin ${command} || [ $? = 3 ]`);
}
