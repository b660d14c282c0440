import type { GateFacts } from '@ori/store/facts';
import { expect, test } from 'vitest';
import { passGate } from './pass-gate.ts';
import { requireHolder } from './require-holder.ts';
import { requireScope } from './require-scope.ts';
import { callerOf, codeOf, GATE, NOW, orderOf, TOKEN } from './stages.fixture.ts';

const order = orderOf();
const gate = (facts: Partial<GateFacts>, judged = order) =>
  codeOf(() => passGate(judged, { ...GATE, ...facts }));
const disabled = { id: 'user_1', disabled: true };

const hidden: [string, Partial<GateFacts>][] = [
  ['an unknown subject', { user: null }],
  ['an unknown intern', { intern: null }],
  ['who is not a member', { membership: null }],
  ['a workspace outside the programme', { inProgramme: false }],
  ['lifecycle writes disabled', { lifecycleWritesEnabled: false }],
];
const revoked: [string, Partial<GateFacts>][] = [
  ['a removed member', { membership: 'removed' }],
  ['a disabled user', { user: disabled }],
];

test('admits a member, with user and workspace', () => {
  expect(passGate(order, GATE)).toMatchObject({
    userId: 'user_1',
    internId: 'int_7Qm2',
    workspaceId: 'ws_1',
    organizationId: 'org_1',
  });
});

test.each(hidden)('shows nothing to %s', (_, facts) => {
  expect(gate(facts)).toBe('not_found');
});

test('refuses an invalid id as not found', () => {
  expect(codeOf(() => passGate(order, undefined))).toBe('not_found');
});

test.each(revoked)('tells %s so', (_, facts) => {
  expect(gate(facts)).toBe('access_revoked');
});

test.each(hidden.flatMap(([a, one]) => revoked.map(([b, other]) => [a, b, { ...other, ...one }] as const)))(
  'reveals nothing to %s, also to %s',
  (_, __, facts) => {
    expect(gate(facts)).toBe('not_found');
  },
);

test('compares the start of a session: at the revocation it is valid, of unknown age it is not', () => {
  expect(passGate(order, { ...GATE, sessionsValidFrom: NOW - 10 }).userId).toBe('user_1');
  expect(gate({ sessionsValidFrom: NOW - 9 })).toBe('insufficient_user_authentication');
  const { authenticatedAt: _, ...undated } = TOKEN;
  const caller = callerOf({ token: undated });
  const grant = requireScope(requireHolder(caller, undefined, false));
  expect(gate({ sessionsValidFrom: 0 }, orderOf(undefined, grant))).toBe('access_revoked');
});
