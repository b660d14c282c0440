import { sql, type Transaction } from 'kysely';
import type { Database } from '../database.ts';
import { type CreatedApiKey, createApiKey, disableApiKey } from '../queries/admin/api-keys.ts';
import { createIntern, deleteIntern, updateIntern } from '../queries/admin/interns.ts';
import { addMembers, removeMembers } from '../queries/admin/members.ts';
import { makeDefault, setTurnLimits } from '../queries/admin/organization-changes.ts';
import {
  createOrganization,
  createWorkspace,
  deleteWorkspace,
  setProgramme,
  updateWorkspace,
} from '../queries/admin/organizations.ts';
import { addSigningKeyIn, type SigningHome } from '../queries/admin/signing-keys.ts';
import { createPeople } from '../queries/admin/users.ts';
import type { Schema } from '../schema.ts';
import { type Plan, planTeam, type Step } from './plan.ts';
import { readTeamState } from './state.ts';
import type { Team } from './team.ts';

export interface ApplyOptions {
  /** The issuer of the subjects. */
  readonly issuer: string;
  /** Whether to remove what a list of the file does not name. */
  readonly prune: boolean;
  /** Only plans. */
  readonly dryRun: boolean;
  /** For interns with `signing_key`; absent where none is wanted. */
  readonly home?: SigningHome | undefined;
  /** Keeps a new key, before it is committed: it is shown to nobody else. */
  readonly deliver: (key: CreatedApiKey, place: KeyPlace) => void;
}

export interface KeyPlace {
  readonly organization: string;
  /** Undefined for a management key. */
  readonly workspace: string | undefined;
  readonly name: string;
}

/** Any constant works if every version of this code uses the same one. */
const TEAM_LOCK = 716_309_451;

/**
 * Makes an organization what the team says, in one transaction: all of it or nothing. A team that is already so is read
 * and not written. Two that apply the same team take turns.
 *
 * @throws AdminError
 */
export function applyTeam(db: Database, team: Team, options: ApplyOptions): Promise<Plan> {
  return db.kysely.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(TEAM_LOCK)}, hashtext(${team.id ?? team.name}))`.execute(
      trx,
    );
    const state = await readTeamState({ kysely: trx }, team, options.issuer);
    const plan = planTeam(team, state, options);
    if (!options.dryRun) for (const { step } of plan.changes) await take(step, trx, team, plan, options);
    return plan;
  });
}

async function take(
  step: Step,
  trx: Transaction<Schema>,
  team: Team,
  { organizationId }: Plan,
  { issuer, home, deliver }: ApplyOptions,
): Promise<void> {
  const db = { kysely: trx };
  switch (step.kind) {
    case 'organization':
      await createOrganization(db, { id: step.id, name: step.name });
      return;
    case 'limits':
      await setTurnLimits(db, {
        organizationId,
        turnsPerUser: step.user,
        turnsPerOrganization: step.organization,
      });
      return;
    case 'workspace': {
      const { name, slug, programme: inProgramme } = step.wanted;
      await createWorkspace(db, { id: step.id, organizationId, name, slug, inProgramme });
      return;
    }
    case 'rename':
      return await updateWorkspace(db, { workspaceId: step.id, name: step.name, slug: step.slug });
    case 'default':
      return await makeDefault(db, { organizationId, workspaceId: step.id });
    case 'programme':
      return await setProgramme(db, { workspaceId: step.id, inProgramme: step.inProgramme });
    case 'people':
      return await createPeople(db, step.people, issuer);
    case 'members':
      return await addMembers(db, { workspaceId: step.id, userIds: step.userIds });
    case 'removed_members':
      await removeMembers(db, { workspaceId: step.id, userIds: step.userIds });
      return;
    case 'intern': {
      const { signing_key: _, ...wanted } = step.wanted;
      await createIntern(db, { ...wanted, id: step.id, workspaceId: step.workspaceId });
      return;
    }
    case 'intern_change':
      return await updateIntern(db, { internId: step.id, ...step.fields });
    case 'signing_key':
      if (home === undefined) throw new TypeError('a signing key needs a ring');
      await addSigningKeyIn(trx, { internId: step.internId, ...home });
      return;
    case 'key': {
      const { name, workspace } = step;
      const made = await createApiKey(
        db,
        workspace === undefined
          ? { kind: 'management', name, organizationId }
          : { kind: 'api', name, workspaceId: workspace.id },
      );
      deliver(made, { organization: team.name, workspace: workspace?.slug, name });
      return;
    }
    case 'disabled_key':
      return await disableApiKey(db, { hash: step.hash });
    case 'deleted_intern':
      return await deleteIntern(db, { internId: step.id });
    case 'deleted_workspace':
      return await deleteWorkspace(db, { workspaceId: step.id });
  }
}
