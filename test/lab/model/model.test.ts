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

test('the trace to a violation is as short as possible', () => {
  const { violation } = explore(createProtocol({ ...CONFIGURATIONS.redis, broken: new Set(['no-fence']) }));
  expect(violation?.trace.map((action) => action.do)).toEqual(['issue', 'present', 'break', 'present']);
});

test('a configuration that exceeds its bound fails', () => {
  expect(() => explore(createProtocol(CONFIGURATIONS.redis), { statesMax: 5 })).toThrow(RangeError);
});
