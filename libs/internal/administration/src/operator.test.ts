import { inspect } from 'node:util';
import { createApiKey, type NewApiKey } from '@ori/store/writes/api-keys';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { createScenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { disableApiKey } from './api-keys.ts';
import { setIcon } from './icons.ts';
import { createIntern } from './interns.ts';
import { addMember, removeMember } from './members.ts';
import { setProgramme } from './organizations.ts';
import { revokeSessions } from './sessions.ts';
import { addSubject, createUser, disableUser, removeSubject } from './users.ts';
import { deleteWorkspace } from './workspaces.ts';

const refused = (code: string) => ({ name: 'AdminError', code });
const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0);

describe('the operator', () => {
  const store = useTestStore('postgres');

  it("limits an intern's key to an intern of the same workspace", async () => {
    const { workspaceId } = await createScenario(store.owner);
    const other = await createScenario(store.owner);
    const key = { kind: 'api', name: 'own', workspaceId, internId: other.internId } as const;
    await expect(createApiKey(store.owner, key)).rejects.toMatchObject(refused('not_found'));
  });

  it.each<[string, unknown]>([
    ['an ordinary key without workspace', { kind: 'api', name: 'x' }],
    [
      'a management key of a workspace',
      { kind: 'management', name: 'x', organizationId: 'org_1', workspaceId: 'ws_1' },
    ],
    ['a key of another kind', { kind: 'provisioning', name: 'x', workspaceId: 'ws_1' }],
    ['a key without a name', { kind: 'api', name: '', workspaceId: 'ws_1' }],
  ])('cannot create %s', async (_what, key) => {
    await expect(createApiKey(store.owner, key as NewApiKey)).rejects.toMatchObject(refused('invalid_input'));
  });

  it('revoking something twice keeps the time of the first', async () => {
    const { workspaceId, userId } = await createScenario(store.owner);
    const { hash } = await createApiKey(store.owner, { kind: 'api', name: 'ci', workspaceId });
    const takeAway = async () => {
      await removeMember(store.owner, { workspaceId, userId });
      await disableUser(store.owner, { userId });
      await disableApiKey(store.owner, { hash });
      const { rows } = await sql`
        select m.removed_at, u.disabled_at, k.disabled_at as key_disabled_at
        from members m join users u on u.id = m.user_id, api_keys k
        where m.user_id = ${userId} and k.hash = ${hash}`.execute(store.owner.kysely);
      return rows;
    };
    const first = await takeAway();
    expect(first).toEqual([
      { removed_at: expect.any(Date), disabled_at: expect.any(Date), key_disabled_at: expect.any(Date) },
    ]);
    await sql`select pg_sleep(0.01)`.execute(store.owner.kysely);
    expect(await takeAway()).toEqual(first);
  });

  it('gets not_found for unknown ids', async () => {
    const { workspaceId, userId, question } = await createScenario(store.owner);
    const db = store.owner;
    const none = { workspaceId: 'ws_none', userId: 'user_none' };
    for (const attempt of [
      () => createWorkspace(db, { organizationId: 'org_none', name: 'x' }),
      () => setProgramme(db, { ...none, inProgramme: true }),
      () => deleteWorkspace(db, none),
      () => addMember(db, { ...none, userId }),
      () => addMember(db, { ...none, workspaceId }),
      () => removeMember(db, { ...none, workspaceId }),
      () => revokeSessions(db, { userId: 'user_none' }),
      () => addSubject(db, { issuer: question.issuer, subject: 'other', userId: 'user_none' }),
      () => removeSubject(db, { ...question, subject: 'none' }),
      () => disableUser(db, none),
      () => disableApiKey(db, { hash: '0'.repeat(64) }),
      () => createIntern(db, { workspaceId: 'ws_none', name: 'x' }),
      () => setIcon(db, { internId: 'int_none', bytes: PNG }),
    ]) {
      await expect(attempt(), attempt.toString()).rejects.toMatchObject(refused('not_found'));
    }
  });

  it.each([-120_000, 600_000])(
    'revokes sessions by the clock of the database, not by one that is %i ms off',
    async (ms) => {
      const { userId } = await createScenario(store.owner);
      const nowMs = Date.now();
      vi.useFakeTimers({ toFake: ['Date'], now: nowMs + ms });
      const revoked = await revokeSessions(store.owner, { userId }).finally(() => vi.useRealTimers());
      expect(revoked.validFrom).toBeGreaterThanOrEqual(Math.floor(nowMs / 1000) + 1);
      expect(revoked.validFrom).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) + 1);
    },
  );

  it('cannot add anything to a deleted workspace', async () => {
    const { workspaceId, userId } = await createScenario(store.owner);
    await deleteWorkspace(store.owner, { workspaceId });
    await expect(createIntern(store.owner, { workspaceId, name: 'x' })).rejects.toMatchObject(
      refused('not_found'),
    );
    await expect(addMember(store.owner, { workspaceId, userId })).rejects.toMatchObject(refused('not_found'));
  });

  it('cannot give a user a subject with a control character or an issuer that is not a URL', async () => {
    const { id: userId } = await createUser(store.owner, { name: 'x' });
    for (const wrong of [{ subject: 'a\nb' }, { subject: '' }, { issuer: 'issuer' }]) {
      const subject = { userId, issuer: 'https://issuer.test', subject: 's', ...wrong };
      await expect(addSubject(store.owner, subject)).rejects.toMatchObject(refused('invalid_input'));
    }
  });

  it('gets all errors together, without quoted input', async () => {
    const error: unknown = await createWorkspace(store.owner, { organizationId: 'ca.na.ry', name: '' }).catch(
      (e) => e,
    );
    expect(error).toMatchObject({
      problems: [expect.stringMatching(/^organizationId: /), expect.stringMatching(/^name: /)],
    });
    expect(inspect(error)).not.toContain('ca.na.ry');
  });
});
