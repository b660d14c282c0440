import { OPERATIONS } from '../../../../services/management/src/operations.ts';
import { inLanes } from '../../../env/in-lanes.ts';
import type { ManagementWorld } from '../world.ts';
import type { Cast, Principal } from './cast.ts';
import type { Trial, Verdict } from './oracle.ts';

export interface Cell {
  readonly principal: string;
  readonly call: Trial['call'];
  readonly expected: Verdict;
  readonly actual: Verdict;
  readonly text: string;
}

/** Fewer than one address may have in flight. */
const LANES = 8;

/** Every principal tries every operation on every resource whose expected status is wanted. */
export async function runMatrix(
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

export function operationOf({ call }: Trial): string {
  const found = OPERATIONS.find(
    ({ method, path }) =>
      method === (call.method ?? 'GET') &&
      new RegExp(`^${path.replace(/\{\w+\}/, '[^/?]+')}(?:\\?|$)`).test(call.path),
  );
  return found?.operationId ?? call.path;
}
