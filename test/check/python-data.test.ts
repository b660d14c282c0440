import { expect, test } from 'vitest';
import { isPythonDataCurrent } from '../../deploy/package/python-data.ts';

test('ori_proof has the scripts and the SQL of the TypeScript stores: `node deploy/package/python-data.ts` writes them', () => {
  expect(isPythonDataCurrent()).toBe(true);
});
