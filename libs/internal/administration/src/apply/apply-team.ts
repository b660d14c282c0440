import type { Database } from '@ori/store/database';
import { sql } from 'kysely';
import { type Plan, type PlanOptions, planTeam } from './plan.ts';
import { readTeamState } from './state.ts';
import type { Team } from './team.ts';

export type { KeyPlace } from './plan.ts';

export interface ApplyOptions extends PlanOptions {
  /** Only plans. */
  readonly dryRun: boolean;
  /** Those of the teams in the file. Apply these first: they may free a name for another team. */
  readonly ids: readonly string[];
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
    const state = await readTeamState({ kysely: trx }, team, options);
    const plan = planTeam(team, state, options);
    if (options.dryRun) return plan;
    for (const { take } of plan.changes) await take({ kysely: trx });
    return plan;
  });
}
