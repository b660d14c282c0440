import type { ApiKeyCaller, Person } from '@ori/store/management';
import { describe, expect, it } from 'vitest';
import { type Caller, requireInternReader, requireKeyHolder, requireManager } from './caller.ts';

const workspace = { id: 'wks_1', inProgramme: true, deleted: false };
const key = (changes: Partial<ApiKeyCaller> = {}): Caller => ({
  key: {
    hash: 'abc',
    kind: 'api',
    disabled: false,
    organizationId: 'org_1',
    createdBy: 'ada',
    ownerLeft: false,
    internId: null,
    workspace,
    ...changes,
  },
});
const managementKey = (changes: Partial<ApiKeyCaller> = {}) =>
  key({ kind: 'management', workspace: null, ...changes });
const membership = { workspaceId: 'wks_1', inProgramme: true, removed: false, sessionsValidFrom: null };
const session = (
  memberships: readonly Partial<Person['memberships'][number]>[],
  {
    scopes = ['interns'],
    authenticatedAt,
    ...person
  }: Partial<Person> & {
    scopes?: readonly string[];
    authenticatedAt?: number;
  } = {},
): Caller => ({
  session: {
    scopes,
    authenticatedAt,
    person: {
      userId: 'ada',
      disabled: false,
      ...person,
      memberships: memberships.map((changes) => ({ ...membership, ...changes })),
    },
  },
});
const refusal = (code: string) => expect.objectContaining({ code });

describe('a manager', () => {
  it('manages the account of the key', () => {
    expect(requireManager(managementKey())).toMatchObject({
      organizationId: 'org_1',
      account: 'org_1',
      userId: 'ada',
      actor: 'api_key:abc',
    });
  });
  it.each([
    ['an unknown credential', undefined, 'bearer_refused'],
    ['a disabled key', managementKey({ disabled: true }), 'bearer_refused'],
    ['a key of a workspace', key(), 'management_key_required'],
    ['a session', session([{}]), 'management_key_required'],
    ['the key of a person who left', managementKey({ ownerLeft: true }), 'access_revoked'],
  ])('is not %s', (_what, caller, code) => {
    expect(() => requireManager(caller)).toThrow(refusal(code));
  });
});

describe('the holder of a key', () => {
  it.each([
    ['of a workspace', key(), { isManagement: false, workspaceId: 'wks_1', account: 'abc' }],
    ['of the account', managementKey(), { isManagement: true, workspaceId: null, account: 'org_1' }],
  ])('%s', (_what, caller, expected) => {
    expect(requireKeyHolder(caller)).toMatchObject({ hash: 'abc', ...expected });
  });
  it.each([
    ['an unknown credential', undefined],
    ['a disabled key', key({ disabled: true })],
    ['a key of a deleted workspace', key({ workspace: { ...workspace, deleted: true } })],
    ['a session', session([{}])],
  ])('is not %s', (_what, caller) => {
    expect(() => requireKeyHolder(caller)).toThrow(refusal('bearer_refused'));
  });
});

describe('a reader of interns', () => {
  it.each([
    ['with a key', key(), { workspaceIds: ['wks_1'], internId: undefined, keyHash: 'abc', account: 'abc' }],
    ["with an intern's own key", key({ internId: 'int_1' }), { internId: 'int_1', userId: undefined }],
    ['with a session', session([{}]), { workspaceIds: ['wks_1'], userId: 'ada', account: 'ada' }],
    [
      'sees only the workspaces of the programme of which they are a member, and where the session is valid',
      session(
        [
          { workspaceId: 'not in it', inProgramme: false },
          { workspaceId: 'left', removed: true },
          { workspaceId: 'revoked', sessionsValidFrom: 101 },
          { workspaceId: 'valid', sessionsValidFrom: 100 },
        ],
        { authenticatedAt: 100 },
      ),
      { workspaceIds: ['valid'] },
    ],
  ])('%s', (_what, caller, expected) => {
    expect(requireInternReader(caller)).toMatchObject(expected);
  });
  it.each([
    ['an unknown credential', undefined, 'bearer_refused'],
    ['a disabled key', key({ disabled: true }), 'bearer_refused'],
    ['a management key', managementKey({ workspace }), 'bearer_refused'],
    ['a key of no workspace', key({ workspace: null }), 'not_found'],
    ['a key of a deleted workspace', key({ workspace: { ...workspace, deleted: true } }), 'not_found'],
    ['a key outside the programme', key({ workspace: { ...workspace, inProgramme: false } }), 'not_found'],
    ['the key of a person who left', key({ ownerLeft: true }), 'access_revoked'],
    ['a session without the scope', session([{}], { scopes: ['vault:read'] }), 'insufficient_scope'],
    [
      'a person who is not known',
      { session: { scopes: ['interns'], authenticatedAt: 1, person: undefined } },
      'not_found',
    ],
    ['a person of no workspace', session([]), 'not_found'],
    ['a person outside the programme', session([{ inProgramme: false }]), 'not_found'],
    ['a person who was removed', session([{ removed: true }]), 'access_revoked'],
    ['a disabled person', session([{}], { disabled: true }), 'access_revoked'],
    ['a revoked session', session([{ sessionsValidFrom: 101 }], { authenticatedAt: 100 }), 'access_revoked'],
    [
      'a session of an unknown age, of which some are revoked',
      session([{ sessionsValidFrom: 1 }]),
      'access_revoked',
    ],
  ] as const)('is not %s', (_what, caller, code) => {
    expect(() => requireInternReader(caller)).toThrow(refusal(code));
  });
});
