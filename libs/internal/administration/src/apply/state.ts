import { isKeyDisabled } from '@ori/store/api-keys';
import type { Handle } from '@ori/store/database';
import type { InternsTable } from '@ori/store/schema';
import { AdminError } from '@ori/store/writes/admin-error';
import { type Selectable, sql } from 'kysely';
import type { Team } from './team.ts';

/**
 * What is stored of an organization, and of the people that its team names.
 *
 * @param ids those in the file, whose organizations no name finds: they may be renamed
 * @throws AdminError `conflict` if several organizations have the name
 */
export async function readTeamState(
  { kysely }: Handle,
  team: Team,
  { issuer, ids }: { readonly issuer: string; readonly ids: readonly string[] },
) {
  const isWanted =
    team.id === undefined
      ? sql<boolean>`name = ${team.name} and id <> all (${ids}::text[])`
      : sql<boolean>`id = ${team.id}`;
  const organizations = await kysely
    .selectFrom('organizations')
    .selectAll()
    .where(isWanted)
    .limit(2)
    .execute();
  if (organizations.length > 1) {
    throw new AdminError('conflict', `several organizations are named ${team.name}: give its id in the file`);
  }
  const [organization] = organizations;
  // No row belongs to an organization without an id.
  const id = organization?.id ?? '';
  const workspaces = await kysely
    .selectFrom('workspaces')
    .selectAll()
    .where('organization_id', '=', id)
    .where('deleted_at', 'is', null)
    .execute();
  const members = await kysely
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['workspace_id', 'user_id', 'users.name'])
    .where('organization_id', '=', id)
    .where('removed_at', 'is', null)
    .execute();
  /** Keys that are neither disabled nor expired; interns' own keys are not among them. */
  const keys = await kysely
    .selectFrom('api_keys')
    .select(['hash', 'kind', 'name', 'workspace_id'])
    .where('organization_id', '=', id)
    .where(sql<boolean>`not ${isKeyDisabled}`)
    .where('intern_id', 'is', null)
    .execute();
  const places = workspaces.map((one) => one.id);
  const interns = await findInterns({ kysely }, team, places);
  const people = await findPeople({ kysely }, team, issuer);
  return { organization, workspaces, people, members, interns, keys };
}

export type TeamState = Awaited<ReturnType<typeof readTeamState>>;

type KnownIntern = Selectable<InternsTable> & { readonly has_key: boolean };

/** Those of the organization, and those with an id that the file has. */
async function findInterns(
  { kysely }: Handle,
  { workspaces = [] }: Team,
  places: readonly string[],
): Promise<KnownIntern[]> {
  const ids = workspaces.flatMap(({ interns = [] }) => interns.flatMap(({ id }) => id ?? []));
  const { rows } = await sql<KnownIntern>`
    select i.*, exists (
      select from signing_keys k
      where k.intern_id = i.id and k.retired_at is null
        and coalesce(k.expires_at > extract(epoch from now()), true)) as has_key
    from interns i where i.workspace_id = any (${places}::text[]) or i.id = any (${ids}::text[])`.execute(
    kysely,
  );
  return rows;
}

interface KnownPerson {
  readonly id: string;
  readonly subject: string | null;
  readonly email: string | null;
}

async function findPeople({ kysely }: Handle, team: Team, issuer: string): Promise<KnownPerson[]> {
  const named = (team.workspaces ?? []).flatMap(({ members = [] }) => members);
  const interns = (team.workspaces ?? []).flatMap((one) => one.interns ?? []);
  const subjects = [
    ...named.flatMap(({ subject }) => subject ?? []),
    ...interns.flatMap((one) => one.created_by ?? []),
  ];
  const emails = named.flatMap(({ email }) => email?.toLowerCase() ?? []);
  if (subjects.length + emails.length === 0) return [];
  const { rows } = await sql<KnownPerson>`
    select u.id, s.subject, u.email from user_subjects s join users u on u.id = s.user_id
    where s.issuer = ${issuer} and s.subject = any (${subjects}::text[])
    union all
    select u.id, null, u.email from users u where lower(u.email) = any (${emails}::text[])`.execute(kysely);
  return rows;
}
