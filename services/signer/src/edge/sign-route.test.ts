import { ALL_VERSIONS, headersOf, type ProofHeaderValues } from '@ori/proof/versions';
import { expect, test } from 'vitest';
import { newestIn } from './sign-route.ts';

test('counts a proof of each version as one of that version', () => {
  const newest = ALL_VERSIONS.map((version) =>
    newestIn(Object.fromEntries(headersOf(version).map((name) => [name, 'x'])) as ProofHeaderValues),
  );
  expect(newest).toEqual(ALL_VERSIONS);
});
