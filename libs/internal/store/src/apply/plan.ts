import { AdminError } from '../queries/admin/admin-error.ts';
import { newId } from '../queries/admin/ids.ts';
import type { NewPerson } from '../queries/admin/users.ts';
import type { TeamState } from './state.ts';
import type { Team, TeamIntern, TeamPerson, TeamWorkspace } from './team.ts';

/** One step from what is stored to what the file says. Steps are taken in their order. */
export type Step =
  | { readonly kind: 'organization'; readonly id: string; readonly name: string }
  | { readonly kind: 'limits'; readonly user?: number | null; readonly organization?: number | null }
  | { readonly kind: 'workspace'; readonly id: string; readonly wanted: TeamWorkspace }
  | { readonly kind: 'rename'; readonly id: string; readonly name: string; readonly slug: string }
  | { readonly kind: 'default'; readonly id: string }
  | { readonly kind: 'programme'; readonly id: string; readonly inProgramme: boolean }
  | { readonly kind: 'people'; readonly people: readonly NewPerson[] }
  | { readonly kind: 'members' | 'removed_members'; readonly id: string; readonly userIds: readonly string[] }
  | {
      readonly kind: 'intern';
      readonly id: string;
      readonly workspaceId: string;
      readonly wanted: TeamIntern;
    }
  | { readonly kind: 'intern_change'; readonly id: string; readonly fields: Partial<TeamIntern> }
  | { readonly kind: 'signing_key'; readonly internId: string }
  | { readonly kind: 'key'; readonly name: string; readonly workspace?: { id: string; slug: string } }
  | { readonly kind: 'disabled_key'; readonly hash: string }
  | { readonly kind: 'deleted_intern' | 'deleted_workspace'; readonly id: string };

/** A step, as it is told: `+` creates, `~` changes, `-` removes. */
interface Change {
  readonly sign: '+' | '~' | '-';
  readonly what: string;
  readonly step: Step;
}

export interface Plan {
  readonly organizationId: string;
  readonly changes: readonly Change[];
}

/**
 * The steps from the state to the team. Without `prune`, nothing is removed.
 *
 * @throws AdminError `not_found` for a person who is known by neither subject nor e-mail address
 */
export function planTeam(team: Team, state: TeamState, { prune }: { readonly prune: boolean }): Plan {
  const changes: Change[] = [];
  const add = (sign: Change['sign'], what: string, step: Step) => changes.push({ sign, what, step });
  const organizationId = state.organization?.id ?? team.id ?? newId('org');
  if (state.organization === undefined) {
    add('+', 'organization', { kind: 'organization', id: organizationId, name: team.name });
  }
  planLimits(team, state, add);
  const people = planPeople(team, state, add);

  for (const wanted of team.workspaces ?? []) {
    const stored = findWorkspace(state.workspaces, wanted);
    const id = stored?.id ?? newId('ws');
    const at = wanted.slug;
    if (stored === undefined) add('+', at, { kind: 'workspace', id, wanted });
    else {
      const { name, slug } = wanted;
      if (stored.name !== name) add('~', `${at}: name`, { kind: 'rename', id, name, slug });
      else if (stored.slug !== slug) add('~', `${at}: slug`, { kind: 'rename', id, name, slug });
      if (wanted.programme !== undefined && wanted.programme !== stored.in_programme) {
        add('~', `${at}: programme`, { kind: 'programme', id, inProgramme: wanted.programme });
      }
    }
    if (wanted.default && !stored?.is_default) add('~', `${at}: default`, { kind: 'default', id });
    planMembers(wanted, id);
    planInterns(wanted, id);
    planKeys(`${at}: `, wanted.keys, { id, slug: wanted.slug });
  }
  planKeys('management ', team.keys, undefined);
  if (prune && team.workspaces !== undefined) {
    const kept = team.workspaces.map((one) => findWorkspace(state.workspaces, one)?.id);
    for (const { id, slug } of state.workspaces.filter((one) => !kept.includes(one.id))) {
      add('-', slug, { kind: 'deleted_workspace', id });
    }
  }
  return { organizationId, changes };

  function planMembers({ members, slug }: TeamWorkspace, id: string): void {
    if (members === undefined) return;
    const wanted = new Set(members.map((person) => people(person)));
    const stored = state.members.filter((one) => one.workspace_id === id).map((one) => one.user_id);
    const added = [...wanted].filter((userId) => !stored.includes(userId));
    const removed = prune ? stored.filter((userId) => !wanted.has(userId)) : [];
    const told = (count: number) => `${slug}: ${count} member${count === 1 ? '' : 's'}`;
    if (added.length > 0) add('+', told(added.length), { kind: 'members', id, userIds: added });
    if (removed.length > 0) add('-', told(removed.length), { kind: 'removed_members', id, userIds: removed });
  }

  function planInterns({ interns, slug }: TeamWorkspace, workspaceId: string): void {
    if (interns === undefined) return;
    const stored = state.interns.filter((one) => one.workspace_id === workspaceId);
    for (const wanted of interns) {
      const known = stored.find(({ name }) => name === wanted.name);
      const id = known?.id ?? wanted.id ?? newId('int');
      const what = `${slug}: intern ${wanted.name}`;
      if (known === undefined) add('+', what, { kind: 'intern', id, workspaceId, wanted });
      else {
        const { status, model, hostname, description, instructions } = wanted;
        const given = Object.entries({ status, model, hostname, description, instructions });
        const fields = given.filter(
          ([name, value]) => value !== undefined && value !== known[name as keyof typeof known],
        );
        if (fields.length > 0) {
          const names = fields.map(([name]) => name).join(', ');
          add('~', `${what}: ${names}`, { kind: 'intern_change', id, fields: Object.fromEntries(fields) });
        }
      }
      if (wanted.signing_key && !known?.has_key)
        add('+', `${what}: signing key`, { kind: 'signing_key', internId: id });
    }
    if (!prune) return;
    const names = interns.map(({ name }) => name);
    for (const { id, name } of stored.filter((one) => !names.includes(one.name))) {
      add('-', `${slug}: intern ${name}`, { kind: 'deleted_intern', id });
    }
  }

  function planKeys(
    prefix: string,
    names: readonly string[] | undefined,
    workspace: { id: string; slug: string } | undefined,
  ): void {
    if (names === undefined) return;
    const stored = state.keys.filter(({ workspace_id }) => workspace_id === (workspace?.id ?? null));
    for (const name of names.filter((wanted) => !stored.some((key) => key.name === wanted))) {
      add('+', `${prefix}key ${name}`, { kind: 'key', name, ...(workspace && { workspace }) });
    }
    if (!prune) return;
    for (const { hash, name } of stored.filter((key) => !names.includes(key.name))) {
      add('-', `${prefix}key ${name}`, { kind: 'disabled_key', hash });
    }
  }
}

/** The default of the column `slug`, for workspaces that had none. */
const DRAWN_SLUG = /^ws-[0-9a-f]{16}$/;

/** The workspace with the slug, or else the only one of that name whose slug was drawn. */
function findWorkspace(stored: TeamState['workspaces'], { slug, name }: TeamWorkspace) {
  const bySlug = stored.find((one) => one.slug === slug);
  const byName = stored.filter((one) => one.name === name && DRAWN_SLUG.test(one.slug));
  return bySlug ?? (byName.length === 1 ? byName[0] : undefined);
}

type Add = (sign: Change['sign'], what: string, step: Step) => void;

function planLimits({ limits }: Team, { organization }: TeamState, add: Add): void {
  if (limits === undefined) return;
  const { turns_per_user: user, turns_per_organization: whole } = limits;
  const differs = (wanted: number | null | undefined, stored: number | null | undefined) =>
    wanted !== undefined && wanted !== (stored ?? null);
  const step = {
    ...(differs(user, organization?.turns_per_user) && { user: user ?? null }),
    ...(differs(whole, organization?.turns_per_organization) && { organization: whole ?? null }),
  };
  if (Object.keys(step).length > 0) add('~', 'limits', { kind: 'limits', ...step });
}

/** Plans the people who are not known yet, and returns a function from a person to the user's id. */
function planPeople(team: Team, { people }: TeamState, add: Add): (person: TeamPerson) => string {
  const bySubject = new Map(people.flatMap(({ id, subject }) => (subject === null ? [] : [[subject, id]])));
  const byEmail = new Map(
    people.flatMap(({ id, email }) => (email === null ? [] : [[email.toLowerCase(), id]])),
  );
  const known = ({ subject, email }: TeamPerson) =>
    (subject === undefined ? undefined : bySubject.get(subject)) ??
    (email === undefined ? undefined : byEmail.get(email.toLowerCase()));
  const fresh: NewPerson[] = [];
  for (const person of (team.workspaces ?? []).flatMap(({ members = [] }) => members)) {
    const { subject, email, name = email ?? subject } = person;
    if (known(person) !== undefined) continue;
    if (subject === undefined || name === undefined) {
      throw new AdminError(
        'not_found',
        `${team.name}: no user has the e-mail address ${email}: add the subject`,
      );
    }
    const id = newId('user');
    bySubject.set(subject, id);
    if (email !== undefined) byEmail.set(email.toLowerCase(), id);
    fresh.push({ id, name, subject, email: email ?? null });
  }
  if (fresh.length > 0) {
    const what = `${fresh.length} ${fresh.length === 1 ? 'person' : 'people'}`;
    add('+', what, { kind: 'people', people: fresh });
  }
  return (person) => known(person) ?? '';
}
