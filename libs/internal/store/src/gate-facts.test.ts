import { createScenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { beforeAll, describe, expect, it } from 'vitest';
import { listMembers } from './queries/admin/lists.ts';
import { addMember, addMembers, removeMember } from './queries/admin/members.ts';
import { clearRevokedSessions, revokeSessions } from './queries/admin/sessions.ts';
import { addSubject, createUser, removeSubject } from './queries/admin/users.ts';
import { createWorkspace, deleteWorkspace } from './queries/admin/workspaces.ts';
import { asTenant } from './queries/tenant.ts';
import { type SignerQueries, signerQueries } from './signer-sql.ts';

describe('gate facts, queried as the signer', () => {
  const store = useTestStore('postgres');
  let signer: SignerQueries;
  beforeAll(async () => {
    signer = signerQueries(store.as('ori_signer'));
  });

  it('compare subjects case-sensitively', async () => {
    const { question } = await createScenario(store.owner);
    const facts = await signer.gateFacts({ ...question, subject: question.subject.toUpperCase() });
    expect(facts.user).toBeNull();
  });

  it('have no user for a removed subject', async () => {
    const { question } = await createScenario(store.owner);
    await removeSubject(store.owner, question);
    expect((await signer.gateFacts(question)).user).toBeNull();
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

  it.each(['an operator', 'the account'])(
    'refuse where %s adds a user later the sessions that were revoked everywhere, and no others',
    async (by) => {
      const { userId, organizationId, workspaceId } = await createScenario(store.owner);
      let latest = '';
      const validFromIn = async (id: string) => {
        const { rows } = await listMembers(store.owner, { limit: 1, workspace_id: id });
        return rows[0]?.sessions_valid_from;
      };
      const addTo = async (name: string) => {
        const place = await createWorkspace(store.owner, { organizationId, name });
        latest = place.id;
        const member = { workspaceId: place.id, userId };
        const account = { organizationId, workspaceId: place.id, userIds: [userId] };
        if (by === 'an operator') await addMember(store.owner, member);
        else await asTenant(store.as('ori_management'), account, (kysely) => addMembers({ kysely }, account));
        return await validFromIn(place.id);
      };
      const validFrom = Math.floor(Date.now() / 1000);
      await revokeSessions(store.owner, { userId, validFrom });
      expect(await addTo('second')).toBe(validFrom);
      await clearRevokedSessions(store.owner, { userId, workspaceId });
      await removeMember(store.owner, { userId, workspaceId });
      expect(await addTo('third')).toBe(validFrom);
      await revokeSessions(store.owner, { userId, workspaceId, validFrom: 1 });
      expect(await addTo('fourth')).toBe(validFrom);
      await addMember(store.owner, { userId, workspaceId });
      expect(await validFromIn(workspaceId)).toBe(1);
      await clearRevokedSessions(store.owner, { userId, workspaceId });
      expect(await addTo('fifth')).toBeNull();
      await revokeSessions(store.owner, { userId, workspaceId, validFrom });
      await deleteWorkspace(store.owner, { workspaceId: latest });
      expect(await addTo('sixth')).toBe(validFrom);
    },
  );

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
