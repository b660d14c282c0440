import { describe, expect, it } from 'vitest';
import { type Caller, requireInternReader, requireKeyHolder, requireManager } from './caller.ts';
import type { ApiKeyCaller, Person } from './queries.ts';

const WORKSPACE = { id: 'workspace', inProgramme: true, deleted: false };
const KEY: ApiKeyCaller = {
  hash: 'hash',
  kind: 'api',
  disabled: false,
  organizationId: 'organization',
  createdBy: 'user',
  ownerLeft: false,
  internId: null,
  workspace: WORKSPACE,
};
const MEMBERSHIP: Person['memberships'][number] = {
  workspaceId: 'workspace',
  inProgramme: true,
  removed: false,
};
const PERSON: Person = {
  userId: 'user',
  disabled: false,
  sessionsValidFrom: 100,
  memberships: [MEMBERSHIP],
};

const ofKey = (change: Partial<ApiKeyCaller>): Caller => ({ key: { ...KEY, ...change } });
const ofSession = (person: Person | undefined, authenticatedAt?: number, scopes = ['interns']): Caller => ({
  session: { scopes, authenticatedAt, person },
});
const inWorkspace = (change: Partial<typeof WORKSPACE>) => ofKey({ workspace: { ...WORKSPACE, ...change } });
const asMember = (change: Partial<typeof MEMBERSHIP>) =>
  ofSession({ ...PERSON, memberships: [{ ...MEMBERSHIP, ...change }] }, 100);

describe('requireManager', () => {
  const management = { kind: 'management', workspace: null } as const;
  it('names the organization and the person of a management key', () => {
    expect(requireManager(ofKey(management))).toMatchObject({
      organizationId: 'organization',
      userId: 'user',
    });
  });
  it.each<[string, Caller, string]>([
    ['nobody', undefined, 'bearer_refused'],
    ['a session', ofSession(PERSON, 100), 'management_key_required'],
    ['an ordinary key', ofKey({}), 'management_key_required'],
    ['a disabled key', ofKey({ ...management, disabled: true }), 'bearer_refused'],
    ['a key of a person who left', ofKey({ ...management, ownerLeft: true }), 'access_revoked'],
  ])('refuses %s', (_, caller, code) => {
    expect(() => requireManager(caller)).toThrow(expect.objectContaining({ code }));
  });
});

describe('requireKeyHolder', () => {
  it.each<[string, Caller, string]>([
    ['a session', ofSession(PERSON, 100), 'bearer_refused'],
    ['a disabled key', ofKey({ disabled: true }), 'bearer_refused'],
    ['a key of a deleted workspace', inWorkspace({ deleted: true }), 'bearer_refused'],
    ['a key of a person who left', ofKey({ ownerLeft: true }), 'access_revoked'],
  ])('refuses %s', (_, caller, code) => {
    expect(() => requireKeyHolder(caller)).toThrow(expect.objectContaining({ code }));
  });
});

describe('requireInternReader', () => {
  it.each<[string, Caller]>([
    ['a key', ofKey({})],
    ['a session that began when earlier ones were revoked', ofSession(PERSON, 100)],
    ['a session without a time, where none was revoked', ofSession({ ...PERSON, sessionsValidFrom: null })],
  ])('gives %s its workspace', (_, caller) => {
    expect(requireInternReader(caller).workspaceIds).toEqual(['workspace']);
  });
  it.each<[string, Caller, string]>([
    ['nobody', undefined, 'bearer_refused'],
    ['a disabled key', ofKey({ disabled: true }), 'bearer_refused'],
    ['a management key', ofKey({ kind: 'management', workspace: null }), 'bearer_refused'],
    ['a key of a deleted workspace', inWorkspace({ deleted: true }), 'not_found'],
    ['a key of a workspace outside the programme', inWorkspace({ inProgramme: false }), 'not_found'],
    ['a key of a person who left', ofKey({ ownerLeft: true }), 'access_revoked'],
    ['a session without the scope', ofSession(PERSON, 100, ['vault:read']), 'insufficient_scope'],
    ['a session of nobody', ofSession(undefined, 100), 'not_found'],
    ['a session of a workspace outside the programme', asMember({ inProgramme: false }), 'not_found'],
    ['a session of a former member', asMember({ removed: true }), 'access_revoked'],
    ['a session of a disabled person', ofSession({ ...PERSON, disabled: true }, 100), 'access_revoked'],
    ['a session that was revoked', ofSession(PERSON, 99), 'insufficient_user_authentication'],
    ['a session without a time, where some were revoked', ofSession(PERSON), 'access_revoked'],
  ])('refuses %s', (_, caller, code) => {
    expect(() => requireInternReader(caller)).toThrow(expect.objectContaining({ code }));
  });
});
