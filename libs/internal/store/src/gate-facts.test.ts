import { createIntern } from '@ori/administration/interns';
import { addMember } from '@ori/administration/members';
import { clearRevokedSessions, revokeSessions } from '@ori/administration/sessions';
import { addSubject, createUser, removeSubject } from '@ori/administration/users';
import { deleteWorkspace } from '@ori/administration/workspaces';
import { createScenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { beforeAll, describe, expect, it } from 'vitest';
import { asTenant } from './queries/tenant.ts';
import { type SignerQueries, signerQueries } from './signer-sql.ts';
import { addMembers, removeMembers } from './writes/members.ts';
import { createWorkspace } from './writes/workspaces.ts';

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
    'say which sessions are revoked in a workspace to which %s adds the person later, or again',
    async (by) => {
      const { userId, organizationId, workspaceId, question } = await createScenario(store.owner);
      const add = async (id: string) => {
        const account = { organizationId, workspaceId: id, userIds: [userId] };
        if (by === 'an operator') await addMember(store.owner, { workspaceId: id, userId });
        else await asTenant(store.as('ori_management'), account, (kysely) => addMembers({ kysely }, account));
      };
      const validFrom = 1_700_000_000;
      await revokeSessions(store.owner, { userId, validFrom });
      const { id: second } = await createWorkspace(store.owner, { organizationId, name: 'second' });
      await add(second);
      const { id: internId } = await createIntern(store.owner, { workspaceId: second, name: 'second' });
      const there = { ...question, internId };
      const known = { membership: 'active', sessionsValidFrom: validFrom };
      expect(await signer.gateFacts(there)).toMatchObject(known);
      await removeMembers(store.owner, { workspaceId, organizationId, userIds: [userId] });
      await deleteWorkspace(store.owner, { workspaceId: second });
      await add(workspaceId);
      expect(await signer.gateFacts(question)).toMatchObject(known);
      await clearRevokedSessions(store.owner, { userId });
      expect(await signer.gateFacts(question)).toMatchObject({ ...known, sessionsValidFrom: null });
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
