import { expect, test } from 'vitest';
import { isPythonDataCurrent } from '../../deploy/package/python-data.ts';

test('ori_proof has the refusals, scripts and SQL of TypeScript: `node deploy/package/python-data.ts` writes them', () => {
  expect(isPythonDataCurrent()).toBe(true);
});
