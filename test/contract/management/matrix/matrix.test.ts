import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../../../services/management/src/operations.ts';
import { inLanes } from '../../../env/in-lanes.ts';
import { type ManagementWorld, startManagementWorld } from '../world.ts';
import { type Cast, createCast, type Principal } from './cast.ts';
import { DropTenantPredicate } from './drop-tenant-predicate.ts';
import { type Trial, trialsOf, type Verdict } from './oracle.ts';

interface Cell {
  readonly principal: string;
  readonly call: Trial['call'];
  readonly expected: Verdict;
  readonly actual: Verdict;
  readonly text: string;
}

/** Fewer than one address may have in flight. */
const LANES = 8;

/** Every principal tries every operation on every resource whose expected status is wanted. */
async function runMatrix(
  world: ManagementWorld,
  cast: Cast,
  trials: readonly Trial[],
  isWanted: (status: number) => boolean = () => true,
): Promise<readonly Cell[]> {
  const cells = await inLanes(cast.principals.length, LANES, async (index) => {
    const principal = cast.principals[index] as Principal;
    const cells: Cell[] = [];
    const refused = new Set<string>();
    for (const trial of trials) {
      const expected = trial.expect(principal);
      // 0: it would change what later cells expect.
      if (expected.status === 0 || !isWanted(expected.status)) continue;
      if (expected.status === 401) {
        // Decided before the resource is looked for: one resource is enough.
        const operation = operationOf(trial);
        if (refused.has(operation)) continue;
        refused.add(operation);
      }
      const { status, json, text } = await world.call({ ...trial.call, bearer: principal.bearer });
      const ids =
        expected.ids && json?.data?.map((row: { id?: string; hash: string }) => row.id ?? row.hash).sort();
      cells.push({
        principal: principal.name,
        call: trial.call,
        expected,
        actual: ids === undefined ? { status } : { status, ids },
        text,
      });
    }
    return cells;
  });
  return cells.flat();
}

function operationOf({ call }: Trial): string {
  const found = OPERATIONS.find(
    ({ method, path }) =>
      method === (call.method ?? 'GET') &&
      new RegExp(`^${path.replace(/\{\w+\}/, '[^/?]+')}(?:\\?|$)`).test(call.path),
  );
  return found?.operationId ?? call.path;
}

const wrong = (cells: readonly Cell[]) =>
  cells.filter(({ expected, actual }) => JSON.stringify(expected) !== JSON.stringify(actual));

describe('principal x resource x operation', () => {
  it('answers each principal as the interface requires, without any row of another tenant', {
    timeout: 240_000,
  }, async () => {
    await using world = await startManagementWorld();
    const cast = await createCast(world.store, world.issuer);
    const cells = await runMatrix(world, cast, trialsOf(cast));
    const tried = new Set(trialsOf(cast).map(operationOf));
    expect(OPERATIONS.filter(({ operationId }) => !tried.has(operationId))).toEqual([]);
    console.log(`matrix: ${cells.length} cells of ${cast.principals.length} principals`);
    expect(cells.length).toBeGreaterThanOrEqual(1000);
    expect(wrong(cells)).toEqual([]);
  });

  it('returns no row of another tenant even if the queries omit the tenant predicate', {
    timeout: 240_000,
  }, async () => {
    const forgetful = new DropTenantPredicate();
    await using world = await startManagementWorld({ wrap: (kysely) => kysely.withPlugin(forgetful) });
    const cast = await createCast(world.store, world.issuer);
    // 401 and 403 are decided before anything is looked for.
    const cells = await runMatrix(world, cast, trialsOf(cast), (status) => status !== 401 && status !== 403);
    expect(forgetful.dropped).toBeGreaterThan(300);
    const leaks = cells.filter(({ principal, text }) => {
      const who = cast.principals.find(({ name }) => name === principal);
      const foreign = [
        ...cast.interns,
        ...cast.credentials,
        ...cast.guardrails,
        ...cast.keyHashes,
        ...cast.internKeys,
        ...cast.members,
        ...cast.workspaces.map(({ id, organization }) => ({ id, organization, workspace: id })),
      ].filter(
        (owned) =>
          owned.organization !== who?.organization && !who?.workspaces.includes(owned.workspace ?? ''),
      );
      // A refusal may repeat an id that the request itself named.
      return /^\{"data"/.test(text) && foreign.some(({ id }) => text.includes(id));
    });
    expect(leaks).toEqual([]);
    expect(cells.filter(({ actual }) => actual.status >= 500)).toEqual([]);
  });
});
