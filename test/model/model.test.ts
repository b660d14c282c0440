import { expect, test } from 'vitest';
import { describe } from './actions.ts';
import { CONFIGURATIONS } from './configurations.ts';
import { explore } from './explore.ts';
import { createProtocol } from './protocol.ts';

test.each(Object.entries(CONFIGURATIONS))('%s: no state violates an invariant', (name, configuration) => {
  const { states, transitions, depth, violation } = explore(createProtocol(configuration));
  expect(violation && [violation.invariant, violation.why, ...violation.trace.map(describe)]).toBeUndefined();
  process.stderr.write(`model ${name}: ${states} states, ${transitions} transitions, ${depth} deep\n`);
});
