import type { Database } from '@ori/store/database';
import { deleteApiKey, disableApiKey } from './api-keys.ts';
import type { AuditEntry } from './audit.ts';
import { deleteCredential, disableCredential } from './credentials.ts';
import { deleteIntern } from './interns.ts';
import type { KeyStater } from './key-statements.ts';
import { removeMember } from './members.ts';
import { deleteOrganization, setLifecycleWrites, setProgramme } from './organizations.ts';
import { revokeSessions } from './sessions.ts';
import { retireSigningKey, revokeSigningKey } from './signing-keys.ts';
import { deleteUser, disableUser, removeSubject } from './users.ts';
import { deleteWorkspace } from './workspaces.ts';

type Facts = Readonly<Record<string, unknown>>;

/** Repeats one revocation. @throws AdminError `not_found` if its object does not exist */
type Apply = (
  db: Database,
  key: readonly [string, string],
  facts: Facts,
  stater: KeyStater | undefined,
) => Promise<unknown>;

interface Deletion {
  readonly action: string;
  readonly apply: Apply;
}

interface Revocation extends Deletion {
  /** Whether the new value, set at this time, revokes something. */
  takes(value: unknown, at: string): boolean;
}

/** A revocation that an export has and the database may lack. */
export interface LostRevocation {
  /** The number of its change. */
  readonly seq: number;
  /** `user disable`. */
  readonly action: string;
  /** What it applies to: the key of the row. */
  readonly subject: readonly string[];
  /** Can be repeated. @throws AdminError `not_found` if the object was lost too, or is deleted already */
  apply(db: Database, stater?: KeyStater): Promise<void>;
}

const isSet = (value: unknown): boolean => value !== null;
const isFalse = (value: unknown): boolean => value === false;
const isTrue = (value: unknown): boolean => value === true;

/** A retired key ends when it is changed, and the audit has the time when that transaction began. */
const CLOCK_TOLERANCE_MS = 5000;
const hasPassed = (seconds: unknown, at: string): boolean =>
  typeof seconds === 'number' && seconds * 1000 <= Date.parse(at) + CLOCK_TOLERANCE_MS;

const on = (takes: Revocation['takes'], action: string, apply: Apply): Revocation => ({
  takes,
  action,
  apply,
});

/** Whether the account ended it, and may undo that. */
const isByAccount = (facts: Facts) =>
  facts['disabled_by_operator'] !== true && facts['removed_by_operator'] !== true;

const keyDisable = (takes: Revocation['takes']) =>
  on(takes, 'key disable', (db, [hash], facts) => disableApiKey(db, { hash, byAccount: isByAccount(facts) }));
const memberRemove = (takes: Revocation['takes']) =>
  on(takes, 'member remove', (db, [workspaceId, userId], facts) =>
    removeMember(db, { workspaceId, userId, byAccount: isByAccount(facts) }),
  );
const byokDisable = on(isTrue, 'byok disable', (db, [id], facts) =>
  disableCredential(db, { id, byAccount: isByAccount(facts) }),
);

/**
 * What repeats a revocation, by the table and the column that revoke something. An operator's mark does so too: the account
 * may have ended it before.
 */
const REVOCATIONS: Readonly<Record<string, Readonly<Record<string, Revocation>>>> = {
  users: {
    disabled_at: on(isSet, 'user disable', (db, [userId]) => disableUser(db, { userId })),
    sessions_valid_from: on(isSet, 'user revoke-sessions', (db, [userId], facts) =>
      revokeSessions(db, { userId, validFrom: Number(facts['sessions_valid_from']) }),
    ),
  },
  api_keys: { disabled_at: keyDisable(isSet), disabled_by_operator: keyDisable(isTrue) },
  members: {
    removed_at: memberRemove(isSet),
    removed_by_operator: memberRemove(isTrue),
  },
  signing_keys: {
    // A rotation sets an end in the future.
    expires_at: on(hasPassed, 'signing-key retire', (db, [keyId], _, stater) =>
      retireSigningKey(db, { keyId, stater }),
    ),
    retired_at: on(isSet, 'signing-key revoke', (db, [keyId]) => revokeSigningKey(db, { keyId })),
  },
  byok_credentials: { disabled: byokDisable, disabled_by_operator: byokDisable },
  switches: { enabled: on(isFalse, 'lifecycle off', (db) => setLifecycleWrites(db, { enabled: false })) },
  workspaces: {
    deleted_at: on(isSet, 'workspace delete', (db, [workspaceId]) => deleteWorkspace(db, { workspaceId })),
    in_programme: on(isFalse, 'programme remove', (db, [workspaceId]) =>
      setProgramme(db, { workspaceId, inProgramme: false }),
    ),
  },
};

/** What repeats the deletion of a row, by its table. */
const DELETIONS: Readonly<Record<string, Deletion>> = {
  interns: { action: 'intern delete', apply: (db, [internId]) => deleteIntern(db, { internId }) },
  signing_keys: { action: 'signing-key revoke', apply: (db, [keyId]) => revokeSigningKey(db, { keyId }) },
  users: { action: 'user delete', apply: (db, [userId]) => deleteUser(db, { userId }) },
  members: {
    action: 'member remove',
    apply: (db, [workspaceId, userId]) => removeMember(db, { workspaceId, userId }),
  },
  user_subjects: {
    action: 'user unlink',
    apply: (db, _, { issuer, subject }) =>
      removeSubject(db, { issuer: String(issuer), subject: String(subject) }),
  },
  api_keys: { action: 'key delete', apply: (db, [hash]) => deleteApiKey(db, { hash }) },
  byok_credentials: { action: 'byok delete', apply: (db, [id]) => deleteCredential(db, { id }) },
  organizations: {
    action: 'org delete',
    apply: (db, [organizationId]) => deleteOrganization(db, { organizationId }),
  },
};

/** To what a row belongs: one that is created again for another does not undo the deletion. */
const OWNERS: Readonly<Record<string, string>> = { interns: 'workspace_id', user_subjects: 'user_id' };

/**
 * The revocations among these changes that no later one undid, in order; for a database that was restored from an earlier
 * backup. A row that was deleted and created again does not have back what ended with it.
 *
 * @param entries oldest first
 */
export function revocationsOf(entries: readonly AuditEntry[]): LostRevocation[] {
  const found = new Map<string, LostRevocation>();
  /** Of rows that were deleted. */
  const owners = new Map<string, unknown>();
  const lost = (
    { seq, row_key, table_name }: AuditEntry,
    { action, apply }: Deletion,
    facts: Facts,
  ): LostRevocation => {
    const [first = '', second = ''] = row_key.split(' ');
    const subject =
      table_name === 'user_subjects'
        ? [String(facts['subject']), String(facts['issuer'])]
        : row_key.split(' ');
    return {
      seq,
      action,
      subject: table_name === 'switches' ? [] : subject,
      async apply(db, stater) {
        await apply(db, [first, second], facts, stater);
      },
    };
  };
  for (const entry of entries) {
    const { table_name, row_key, operation, before, after, at } = entry;
    const revocations = Object.entries(REVOCATIONS[table_name] ?? {});
    const keyOf = (action: string) => JSON.stringify([table_name, row_key, action]);
    const deleted = keyOf('deleted');
    const owner = (before ?? after)?.[OWNERS[table_name] ?? ''];
    if (operation === 'delete') {
      for (const [, { action }] of revocations) found.delete(keyOf(action));
      const deletion = DELETIONS[table_name];
      // The first one is of the row that the backup has.
      if (deletion !== undefined && !found.has(deleted)) {
        found.set(deleted, lost(entry, deletion, before ?? {}));
        owners.set(deleted, owner);
      }
    }
    if (operation === 'insert' && owners.get(deleted) === owner) found.delete(deleted);
    if (operation !== 'update' || after === null) continue;
    for (const [column, revocation] of revocations) {
      if (!(column in after)) continue;
      const key = keyOf(revocation.action);
      found.delete(key);
      if (revocation.takes(after[column], at)) found.set(key, lost(entry, revocation, after));
    }
  }
  return [...found.values()];
}
