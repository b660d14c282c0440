import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../../../services/management/src/operations.ts';
import { startManagementWorld } from '../world.ts';
import { createCast } from './cast.ts';
import { trialsOf } from './oracle.ts';
import { type Cell, operationOf, runMatrix } from './run.ts';

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
});
