import { createScenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { describe, expect, it } from 'vitest';
import { createIntern, updateIntern } from './interns.ts';

const refused = (code: string) => ({ name: 'AdminError', code });

describe('the operator', () => {
  const store = useTestStore('postgres');

  it('creates an intern with every field, and with null for omitted ones', async () => {
    const { workspaceId, organizationId, userId } = await createScenario(store.owner);
    const { id } = await createIntern(store.owner, {
      workspaceId,
      name: 'babbage',
      description: 'computes',
      hostname: 'babbage.interns.test',
      model: 'anthropic/claude',
      status: 'running',
      vault_id: 'vault_1',
      instructions: 'compute',
      progress: { step_label: 'wheels', step_number: 1, total_steps: 3 },
      createdByUserId: userId,
    });
    const find = (intern: string) =>
      store.owner.kysely.selectFrom('interns').selectAll().where('id', '=', intern).executeTakeFirstOrThrow();
    expect(id).toMatch(/^int_[0-9A-Za-z]{22}$/);
    expect(await find(id)).toMatchObject({
      organization_id: organizationId,
      status: 'running',
      model: 'anthropic/claude',
      icon_sha256: null,
      progress: { step_label: 'wheels', step_number: 1, total_steps: 3 },
      created_at: expect.any(Date),
    });
    const bare = await createIntern(store.owner, { workspaceId, name: 'bare' });
    const { created_at, updated_at, ...rest } = await find(bare.id);
    expect(updated_at).toEqual(created_at);
    const filled = Object.entries(rest).filter(([, value]) => value !== null);
    expect(filled.map(([name]) => name)).toEqual(['id', 'organization_id', 'workspace_id', 'name', 'status']);
  });

  it.each([
    ['an id outside the alphabet of proofs', { id: 'int.1' }],
    ['an id that begins with a dash', { id: '-int' }],
    ['an unknown status', { status: 'paused' }],
    ['a host name with a path', { hostname: 'a.test/x' }],
    ['a host name of another intern', { hostname: 'other.interns.test' }],
    ['a model without provider', { model: 'claude' }],
    ['an unknown member', { icon: 'x' }],
  ])('cannot create an intern with %s', async (_what, wrong) => {
    const { workspaceId } = await createScenario(store.owner);
    const intern = { workspaceId, name: 'x', ...wrong } as Parameters<typeof createIntern>[1];
    await expect(createIntern(store.owner, intern)).rejects.toMatchObject(refused('invalid_input'));
  });

  it('has a host name that follows its name', async () => {
    const { workspaceId } = await createScenario(store.owner);
    const made = { workspaceId, name: 'Ada', hostname: 'ada.interns.test' };
    const { id: internId } = await createIntern(store.owner, made);
    const wrong = { internId, hostname: 'adah.interns.test' };
    await expect(updateIntern(store.owner, wrong)).rejects.toMatchObject({
      ...refused('invalid_input'),
      message: 'intern: its host name is not <intern name>.<domain>',
    });
    await updateIntern(store.owner, { internId, hostname: 'ada.elsewhere.test' });
  });
});
