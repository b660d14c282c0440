import { isDeepStrictEqual } from 'node:util';
import type { CreatedApiKey } from '@ori/store/writes/api-keys';
import { newId, slugOf } from '@ori/store/writes/ids';
import { addMembers, removeMembers } from '@ori/store/writes/members';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { disableApiKey } from '../api-keys.ts';
import { deleteIntern, updateIntern } from '../interns.ts';
import type { KeyStater } from '../key-statements.ts';
import { createNamedIntern, createNamedKey, createNamedOrganization } from '../named.ts';
import {
  createOrganization,
  makeDefault,
  renameOrganization,
  setProgramme,
  setTurnLimits,
} from '../organizations.ts';
import { addSigningKeyIn, type SigningHome } from '../signing-keys.ts';
import { deleteWorkspace, renameWorkspace } from '../workspaces.ts';
import type { Add, Change } from './change.ts';
import { findIntern, findWorkspace, type Place } from './find-stored.ts';
import { planPeople } from './plan-people.ts';
import type { TeamState } from './state.ts';
import type { Team, TeamWorkspace } from './team.ts';

export interface PlanOptions {
  /** The issuer of the subjects. */
  readonly issuer: string;
  /** Whether to remove what a list of the file does not name. */
  readonly prune: boolean;
  /** For interns with `signing_key`; absent where none is wanted. */
  readonly home?: SigningHome | undefined;
  /** States that interns have their answer keys, where the deployment has a root. */
  readonly stater?: KeyStater | undefined;
  /** Keeps a new key, before it is committed: it is shown to nobody else. */
  readonly deliver: (key: CreatedApiKey, place: KeyPlace) => void;
}

export interface KeyPlace {
  /** What the file finds it by. */
  readonly organization: string;
  /** Its slug; undefined for a management key. */
  readonly workspace: string | undefined;
  readonly name: string;
}

/**
 * The steps from the state to the team. Without `prune`, nothing is removed.
 *
 * @throws AdminError `not_found` for a person who is known by neither subject nor e-mail address, `conflict` for one whose
 *   e-mail address is known with another subject, for an intern whose id in the file is another's, and where several have
 *   the name
 */
export function planTeam(team: Team, state: TeamState, options: PlanOptions) {
  const { prune, issuer, home, stater, deliver } = options;
  const changes: Change[] = [];
  const add: Add = (sign, what, take) => changes.push({ sign, what, take });
  const organizationId = state.organization?.id ?? team.id ?? newId('org');
  if (state.organization === undefined) {
    const create = team.id === undefined ? createNamedOrganization : createOrganization;
    add('+', 'organization', (db) => create(db, { id: organizationId, name: team.name }));
  } else if (state.organization.name !== team.name) {
    add('~', 'name', (db) => renameOrganization(db, { organizationId, name: team.name }));
  }
  planLimits(organizationId, team, state, add);
  const people = planPeople(team, state, issuer, add);

  for (const wanted of team.workspaces ?? []) {
    const stored = findWorkspace(team, state.workspaces, wanted);
    const id = stored?.id ?? newId('ws');
    const { name, programme: inProgramme } = wanted;
    const slug = stored?.slug ?? wanted.slug ?? slugOf(name);
    if (stored === undefined) {
      add('+', slug, (db) => createWorkspace(db, { id, organizationId, name, slug, inProgramme }));
    } else {
      if (stored.name !== name) {
        add('~', `${slug}: name`, (db) => renameWorkspace(db, { workspaceId: id, name }));
      }
      if (inProgramme !== undefined && inProgramme !== stored.in_programme) {
        add('~', `${slug}: programme`, (db) => setProgramme(db, { workspaceId: id, inProgramme }));
      }
    }
    if (wanted.default && !stored?.is_default) {
      add('~', `${slug}: default`, (db) => makeDefault(db, { organizationId, workspaceId: id }));
    }
    planMembers(wanted, { id, slug });
    planInterns(wanted, { id, slug });
    planKeys(`${slug}: `, wanted.keys, { id, slug });
  }
  planKeys('management ', team.keys, undefined);
  if (prune && team.workspaces !== undefined) {
    const kept = team.workspaces.map((one) => findWorkspace(team, state.workspaces, one)?.id);
    for (const { id, slug } of state.workspaces.filter((one) => !kept.includes(one.id))) {
      add('-', slug, (db) => deleteWorkspace(db, { workspaceId: id }));
    }
  }
  return { organizationId, changes };

  function planMembers({ members }: TeamWorkspace, { id: workspaceId, slug }: Place): void {
    if (members === undefined) return;
    const wanted = new Set(members.map((person) => people(person)));
    const stored = state.members.filter((one) => one.workspace_id === workspaceId).map((one) => one.user_id);
    const added = [...wanted].filter((userId) => !stored.includes(userId));
    const removed = prune ? stored.filter((userId) => !wanted.has(userId)) : [];
    const told = (count: number) => `${slug}: ${count} member${count === 1 ? '' : 's'}`;
    if (added.length > 0) {
      add('+', told(added.length), (db) => addMembers(db, { workspaceId, userIds: added }));
    }
    if (removed.length > 0) {
      add('-', told(removed.length), (db) => removeMembers(db, { workspaceId, userIds: removed }));
    }
  }

  function planInterns({ interns }: TeamWorkspace, place: Place): void {
    if (interns === undefined) return;
    const { id: workspaceId, slug } = place;
    const kept = new Set<string>();
    for (const {
      name,
      id,
      signing_key: wantsKey,
      answer_keys: keys,
      created_by: subject,
      ...fields
    } of interns) {
      const known = findIntern(team, state, place, { name, id });
      if (known !== undefined) kept.add(known.id);
      const internId = known?.id ?? id ?? newId('int');
      const what = `${slug}: intern ${name}`;
      if (known === undefined) {
        const createdByUserId = subject && people({ subject });
        const wanted = { ...fields, name, id: internId, workspaceId, createdByUserId };
        add('+', what, (db) => createNamedIntern(db, wanted));
      } else {
        const changed = Object.entries(fields).filter(
          ([field, value]) =>
            value !== undefined && !isDeepStrictEqual(value, known[field as keyof typeof known]),
        );
        const names = changed.map(([field]) => field).join(', ');
        if (changed.length > 0) {
          add('~', `${what}: ${names}`, (db) =>
            updateIntern(db, { internId, ...Object.fromEntries(changed) }),
          );
        }
      }
      const former = known?.answer_keys ?? [];
      if (keys !== undefined && String(keys ?? []) !== String(former.map(({ x }) => x)))
        add('~', `${what}: answer_keys`, async (db) => {
          const { setAnswerKeys } = await import('../answer-keys/answer-keys.ts');
          await setAnswerKeys(db, internId, keys, { former, stater });
        });
      if (wantsKey && !known?.has_key) {
        add('+', `${what}: signing key`, ({ kysely }) => {
          if (home === undefined) throw new TypeError('a signing key needs a ring');
          return addSigningKeyIn(kysely, { internId, ...home });
        });
      }
    }
    if (!prune) return;
    const stored = state.interns.filter((one) => one.workspace_id === workspaceId);
    for (const { id, name } of stored.filter((one) => !kept.has(one.id))) {
      add('-', `${slug}: intern ${name}`, (db) => deleteIntern(db, { internId: id }));
    }
  }

  function planKeys(
    prefix: string,
    names: readonly string[] | undefined,
    workspace: Place | undefined,
  ): void {
    if (names === undefined) return;
    const stored = state.keys.filter(({ workspace_id }) => workspace_id === (workspace?.id ?? null));
    for (const name of names.filter((wanted) => !stored.some((key) => key.name === wanted))) {
      add('+', `${prefix}key ${name}`, async (db) => {
        const made = await createNamedKey(
          db,
          workspace === undefined
            ? { kind: 'management', name, organizationId }
            : { kind: 'api', name, workspaceId: workspace.id },
        );
        deliver(made, { organization: team.id ?? team.name, workspace: workspace?.slug, name });
      });
    }
    if (!prune) return;
    for (const { hash, name } of stored.filter((key) => !names.includes(key.name))) {
      add('-', `${prefix}key ${name}`, (db) => disableApiKey(db, { hash }));
    }
  }
}

/** The steps are taken in their order. */
export type Plan = ReturnType<typeof planTeam>;

function planLimits(organizationId: string, team: Team, { organization }: TeamState, add: Add): void {
  if (team.limits === undefined) return;
  const { turns_per_user: user, turns_per_organization: whole } = team.limits;
  const differs = (wanted: number | null | undefined, stored: number | null | undefined) =>
    wanted !== undefined && wanted !== (stored ?? null);
  if (differs(user, organization?.turns_per_user) || differs(whole, organization?.turns_per_organization)) {
    const limits = { turnsPerUser: user, turnsPerOrganization: whole };
    add('~', 'limits', (db) => setTurnLimits(db, { organizationId, ...limits }));
  }
}
