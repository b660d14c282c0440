import { createScenario } from '@ori/test-env/scenario';
import { DIALECTS, useTestStore } from '@ori/test-env/stores';
import { describe, expect, it } from 'vitest';
import { createApiKey } from './api-keys.ts';
import { setIcon } from './icons.ts';
import { createIntern, updateIntern } from './interns.ts';

const refused = (code: string) => ({ name: 'AdminError', code });
const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0);

describe.each(DIALECTS)('the operator on %s', (dialect) => {
  const store = useTestStore(dialect);

  it('creates an intern with every field, and with null for omitted ones', async () => {
    const { workspaceId, organizationId, userId } = await createScenario(store.owner);
    const { id } = await createIntern(store.owner, {
      workspaceId,
      name: 'babbage',
      description: 'computes',
      hostname: 'babbage.interns.test',
      model: 'anthropic/claude',
      status: 'running',
      vaultId: 'vault_1',
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

  it('records the API key that created an intern, if it belongs to the organization', async () => {
    const { workspaceId } = await createScenario(store.owner);
    const { hash } = await createApiKey(store.owner, { kind: 'api', name: 'maker', workspaceId });
    const made = { workspaceId, name: 'made', createdByKeyHash: hash };
    const { id } = await createIntern(store.owner, made);
    const rows = store.owner.kysely.selectFrom('interns').select('created_by_key_hash').where('id', '=', id);
    expect(await rows.execute()).toEqual([{ created_by_key_hash: hash }]);
    const unknown = { ...made, createdByKeyHash: '0'.repeat(64) };
    await expect(createIntern(store.owner, unknown)).rejects.toMatchObject(refused('not_found'));
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
    await expect(updateIntern(store.owner, { internId, name: 'adah' })).rejects.toMatchObject({
      ...refused('invalid_input'),
      message: 'intern: its host name is not <intern name>.<domain>',
    });
    await updateIntern(store.owner, { internId, name: 'adah', hostname: 'adah.interns.test' });
  });

  it('replaces an icon, which is identified by its hash', async () => {
    const { internId } = await createScenario(store.owner);
    const first = await setIcon(store.owner, { internId, mediaType: 'image/png', bytes: PNG });
    const second = await setIcon(store.owner, { internId, mediaType: 'image/png', bytes: PNG.slice(0, 9) });
    expect(first.sha256).not.toBe(second.sha256);
    const rows = await store.owner.kysely
      .selectFrom('intern_icons')
      .selectAll()
      .where('intern_id', '=', internId)
      .execute();
    expect(rows.map(({ sha256, bytes }) => [sha256, bytes.length])).toEqual([[second.sha256, 9]]);
    const svg = { internId, mediaType: 'image/png', bytes: new TextEncoder().encode('<svg/>') } as const;
    await expect(setIcon(store.owner, svg)).rejects.toMatchObject(refused('invalid_input'));
  });
});
