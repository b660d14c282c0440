import { createScenario } from '@ori/test-env/scenario';
import { DIALECTS, useTestStore } from '@ori/test-env/stores';
import { beforeAll, describe, expect, it } from 'vitest';
import { addMember, clearRevokedSessions, removeMember, revokeSessions } from './queries/admin/members.ts';
import { setTurnLimits } from './queries/admin/organization-changes.ts';
import {
  createWorkspace,
  deleteWorkspace,
  setLifecycleWrites,
  setProgramme,
} from './queries/admin/organizations.ts';
import { addSubject, createUser, disableUser, enableUser, removeSubject } from './queries/admin/users.ts';
import { type SignerQueries, signerQueries } from './signer-sql.ts';

describe.each(DIALECTS)('gate facts on %s, queried as the signer', (dialect) => {
  const store = useTestStore(dialect);
  let signer: SignerQueries;
  beforeAll(async () => {
    signer = signerQueries(store.as('ori_signer'));
  });

  it('include a member of a workspace in the programme', async () => {
    const { organizationId, workspaceId, userId, internId, question } = await createScenario(store.owner);
    expect(await signer.gateFacts(question)).toEqual({
      user: { id: userId, disabled: false },
      intern: { id: internId, workspaceId, organizationId },
      inProgramme: true,
      membership: 'active',
      sessionsValidFrom: null,
      lifecycleWritesEnabled: true,
    });
  });

  it('have the turn limits of an organization that has its own', async () => {
    const { organizationId, question } = await createScenario(store.owner);
    const limits = async () => (await signer.gateFacts(question)).intern?.turnLimits;
    await setTurnLimits(store.owner, { organizationId, turnsPerUser: 7 });
    expect(await limits()).toEqual({ user: 7 });
    await setTurnLimits(store.owner, { organizationId, turnsPerOrganization: 70 });
    expect(await limits()).toEqual({ user: 7, organization: 70 });
    await setTurnLimits(store.owner, { organizationId, turnsPerUser: null, turnsPerOrganization: null });
    expect(await limits()).toBeUndefined();
    const refused = (limits: object) => setTurnLimits(store.owner, { organizationId, ...limits });
    for (const turnsPerUser of [0, -1, 1.5, 1_000_001]) {
      await expect(refused({ turnsPerUser })).rejects.toMatchObject({ code: 'invalid_input' });
    }
    await expect(
      setTurnLimits(store.owner, { organizationId: 'org_absent', turnsPerUser: 1 }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([
    ...['nobody', '\0', 'a\0b', '\ud800', '\u{10ffff}', "' or true --", '%', '\\'].map((subject) => ({
      subject,
    })),
    { issuer: 'https://issuer.test/' },
  ])('have no user for another subject, or of another issuer, but the intern: %j', async (other) => {
    const { internId, question } = await createScenario(store.owner);
    expect(await signer.gateFacts({ ...question, ...other })).toMatchObject({
      user: null,
      membership: null,
      intern: { id: internId },
      inProgramme: true,
    });
  });

  it('compare subjects case-sensitively', async () => {
    const { question } = await createScenario(store.owner);
    const facts = await signer.gateFacts({ ...question, subject: question.subject.toUpperCase() });
    expect(facts.user).toBeNull();
  });

  it('have no intern for an unknown id, but the user', async () => {
    const { userId, question } = await createScenario(store.owner);
    const facts = await signer.gateFacts({ ...question, internId: 'int_unknown' });
    expect(facts).toMatchObject({ user: { id: userId }, intern: null, inProgramme: false, membership: null });
  });

  it('are empty if both are unknown', async () => {
    const facts = await signer.gateFacts({ issuer: 'x', subject: 'y', internId: 'z' });
    expect(facts).toMatchObject({ user: null, intern: null, inProgramme: false, membership: null });
  });

  it('have no membership for a member of another workspace', async () => {
    const { organizationId, question } = await createScenario(store.owner);
    const stranger = await createScenario(store.owner);
    const { id: workspaceId } = await createWorkspace(store.owner, { organizationId, name: 'other' });
    await addMember(store.owner, { workspaceId, userId: stranger.userId });
    const facts = await signer.gateFacts({ ...question, subject: stranger.question.subject });
    expect(facts).toMatchObject({ user: { id: stranger.userId }, membership: null });
  });

  it('show a removed member as removed, and as active when added again', async () => {
    const { question, ...member } = await createScenario(store.owner);
    await removeMember(store.owner, member);
    expect((await signer.gateFacts(question)).membership).toBe('removed');
    await addMember(store.owner, { workspaceId: member.workspaceId, userId: member.userId });
    expect((await signer.gateFacts(question)).membership).toBe('active');
  });

  it('show a disabled user, and the same one enabled again', async () => {
    const { userId, question } = await createScenario(store.owner);
    await disableUser(store.owner, { userId });
    expect((await signer.gateFacts(question)).user).toEqual({ id: userId, disabled: true });
    await enableUser(store.owner, { userId });
    expect((await signer.gateFacts(question)).user).toEqual({ id: userId, disabled: false });
  });

  it('have no user for a removed subject', async () => {
    const { question } = await createScenario(store.owner);
    await removeSubject(store.owner, question);
    expect((await signer.gateFacts(question)).user).toBeNull();
  });

  it('show a workspace outside the programme', async () => {
    const { workspaceId, question } = await createScenario(store.owner);
    await setProgramme(store.owner, { workspaceId, inProgramme: false });
    expect(await signer.gateFacts(question)).toMatchObject({ inProgramme: false, membership: 'active' });
  });

  it('have no intern of a deleted workspace', async () => {
    const { workspaceId, question } = await createScenario(store.owner);
    await deleteWorkspace(store.owner, { workspaceId });
    expect(await signer.gateFacts(question)).toMatchObject({
      intern: null,
      inProgramme: false,
      membership: null,
    });
  });

  it('show that lifecycle writes are off', async () => {
    const { question } = await createScenario(store.owner);
    await setLifecycleWrites(store.owner, { enabled: false });
    expect((await signer.gateFacts(question)).lifecycleWritesEnabled).toBe(false);
    await store.owner.kysely.deleteFrom('switches').execute();
    expect((await signer.gateFacts(question)).lifecycleWritesEnabled).toBe(false);
    await setLifecycleWrites(store.owner, { enabled: true });
    expect((await signer.gateFacts(question)).lifecycleWritesEnabled).toBe(true);
  });

  it('show from when sessions are valid, in one workspace or in all', async () => {
    const { userId, workspaceId, organizationId, question } = await createScenario(store.owner);
    const { id: other } = await createWorkspace(store.owner, { organizationId, name: 'other' });
    await addMember(store.owner, { workspaceId: other, userId });
    await revokeSessions(store.owner, { userId, workspaceId: other, validFrom: 1_789_000_000 });
    expect((await signer.gateFacts(question)).sessionsValidFrom).toBeNull();
    await revokeSessions(store.owner, { userId, validFrom: 1_789_000_001 });
    expect((await signer.gateFacts(question)).sessionsValidFrom).toBe(1_789_000_001);
    await revokeSessions(store.owner, { userId, validFrom: 1_788_000_000 });
    await addMember(store.owner, { workspaceId, userId });
    expect((await signer.gateFacts(question)).sessionsValidFrom).toBe(1_789_000_001);
  });

  it('show no revocation of sessions once it was cleared, and a repetition says that it changes nothing', async () => {
    const { userId, workspaceId, question } = await createScenario(store.owner);
    const at = 1_789_000_000;
    expect(await revokeSessions(store.owner, { userId, validFrom: 0 })).toEqual([
      { workspaceId, validFrom: null, changed: false },
    ]);
    const revoke = () => revokeSessions(store.owner, { userId, validFrom: at });
    expect(await revoke()).toEqual([{ workspaceId, validFrom: at, changed: true }]);
    expect(await revoke()).toEqual([{ workspaceId, validFrom: at, changed: false }]);
    expect(await clearRevokedSessions(store.owner, { userId, workspaceId })).toEqual([
      { workspaceId, validFrom: null, changed: true },
    ]);
    expect((await signer.gateFacts(question)).sessionsValidFrom).toBeNull();
  });

  it('refuse a start of valid sessions in the future', async () => {
    const { userId } = await createScenario(store.owner);
    const mistaken = revokeSessions(store.owner, { userId, validFrom: Math.floor(Date.now() / 1000) + 3600 });
    await expect(mistaken).rejects.toMatchObject({ name: 'AdminError', code: 'invalid_input' });
  });

  it('by default revoke a session that began in this second', async () => {
    const { userId, question } = await createScenario(store.owner);
    const before = Math.floor(Date.now() / 1000);
    await revokeSessions(store.owner, { userId });
    expect((await signer.gateFacts(question)).sessionsValidFrom).toBeGreaterThan(before);
  });

  it('map a subject to only one user', async () => {
    const { question } = await createScenario(store.owner);
    const { id: userId } = await createUser(store.owner, { name: 'Mary' });
    const stolen = { userId, issuer: question.issuer, subject: question.subject };
    await expect(addSubject(store.owner, stolen)).rejects.toMatchObject({
      name: 'AdminError',
      code: 'conflict',
    });
  });
});
