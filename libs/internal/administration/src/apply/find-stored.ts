import { AdminError } from '@ori/store/writes/admin-error';
import { slugOf } from '@ori/store/writes/ids';
import type { TeamState } from './state.ts';
import type { Team, TeamWorkspace } from './team.ts';

/** A workspace that is found or planned. */
export interface Place {
  readonly id: string;
  readonly slug: string;
}

/**
 * The workspace with the slug of the file; without one, that of the name, unless another one of the file has its slug
 * and so its name is free. A slug that only follows from the name finds none: another name may give it.
 *
 * @throws AdminError `conflict` if the file has to say which one it means
 */
export function findWorkspace(team: Team, stored: TeamState['workspaces'], { slug, name }: TeamWorkspace) {
  if (slug !== undefined) return stored.find((one) => one.slug === slug);
  const slugs = (team.workspaces ?? []).map((one) => one.slug);
  const derived = slugOf(name);
  const named = stored.filter((one) => one.name === name && !slugs.includes(one.slug));
  const found = named.find((one) => one.slug === derived) ?? named[0];
  const others = named.length > 1 && found?.slug !== derived ? named : [];
  const other = found === undefined ? stored.filter((one) => one.slug === derived) : others;
  if (other.length === 0) return found;
  const known = other.map((one) => `${JSON.stringify(one.name)} has slug: ${one.slug}`).join(', ');
  const advice = 'write the slug of the one that is meant, or a slug of its own';
  throw new AdminError('conflict', `${team.name}: workspace ${JSON.stringify(name)}: ${known}; ${advice}`);
}

/**
 * The intern of the workspace with the name, and of several the one with the id of the file. An id cannot be changed, and
 * an intern cannot move.
 *
 * @throws AdminError `conflict` if the file has to say which one it means, or has an id that is another's
 */
export function findIntern(
  team: Team,
  { organization, workspaces, interns }: TeamState,
  { id: workspaceId, slug }: Place,
  { name, id }: { readonly name: string; readonly id?: string | undefined },
) {
  const named = interns.filter((one) => one.workspace_id === workspaceId && one.name === name);
  const found = named.length < 2 ? named[0] : named.find((one) => one.id === id);
  const holder = id === undefined ? found : interns.find((one) => one.id === id);
  if (found === undefined && named.length > 1) {
    const ids = named.map((one) => one.id).sort();
    throw conflict(`several have the name: ${ids.join(', ')}; give the id of the one that is meant`);
  }
  if (holder === found) return found;
  if (found !== undefined) throw conflict(`its id is ${found.id}, not ${id}`);
  const isHidden =
    holder?.organization_id === organization?.id &&
    !workspaces.some((one) => one.id === holder?.workspace_id);
  const advice = isHidden ? ', which is deleted: delete that intern, or write another id' : '';
  throw conflict(`${id} is ${JSON.stringify(holder?.name)} in ${holder?.workspace_id}${advice}`);

  function conflict(why: string): AdminError {
    return new AdminError('conflict', `${team.name}: ${slug}: intern ${name}: ${why}`);
  }
}
