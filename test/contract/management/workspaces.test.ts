import { addMember } from '@ori/administration/members';
import { createUser } from '@ori/administration/users';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { describe, expect, it } from 'vitest';
import { envelope, startManagementWorld, useManagementWorld } from './world.ts';

const world = await useManagementWorld();

const create = (json: unknown) => world.call({ method: 'POST', path: '/workspaces', json });
const at = (id: string, method = 'GET', json?: unknown) =>
  world.call({ method, path: `/workspaces/${id}`, ...(json !== undefined && { json }) });

describe('workspaces', () => {
  it('201: creates one outside the programme, found by its id and its slug', async () => {
    const { status, json } = await create({ name: 'Engine Room', description: 'Steam.' });
    expect(status).toBe(201);
    expect(json.data).toMatchObject({
      name: 'Engine Room',
      slug: 'engine-room',
      description: 'Steam.',
      created_by: world.ours.userId,
      updated_at: null,
    });
    for (const id of [json.data.id, 'engine-room']) expect((await at(id)).json).toEqual(json);
    const { json: key } = await world.call({
      method: 'POST',
      path: '/keys',
      json: { name: 'x', workspace_id: json.data.id },
    });
    expect((await world.call({ path: '/interns', bearer: key.key })).status).toBe(404);
  });

  it('400: refuses a slug that is taken, and takes it again once that workspace is deleted', async () => {
    const { json } = await create({ name: 'twice' });
    expect((await create({ name: 'twice' })).json).toEqual(envelope(400));
    expect((await create({ name: 'other', slug: 'twice' })).json).toEqual(envelope(400));
    expect((await create({ name: 'Twice' })).json.data.slug).toMatch(/^twice-[0-9a-f]{16}$/);
    expect((await at(json.data.id, 'DELETE')).json).toEqual({ deleted: true });
    for (const id of [json.data.id, '%00', 'ws_unknown', '%ff']) expect((await at(id)).status).toBe(404);
    expect((await create({ name: 'twice' })).status).toBe(201);
  });

  it('has its slugs beside those of other accounts', async () => {
    await createWorkspace(world.store, { organizationId: world.theirs.organizationId, name: 'shared' });
    expect((await create({ name: 'shared' })).status).toBe(201);
  });

  it('changes what is given', async () => {
    const { json } = await create({ name: 'old', description: 'kept' });
    const { json: changed } = await at(json.data.id, 'PATCH', { name: 'new', slug: 'brand-new' });
    expect(changed.data).toMatchObject({ name: 'new', slug: 'brand-new', description: 'kept' });
    expect((await at('brand-new', 'PATCH', { description: null })).json.data.description).toBeNull();
    expect((await at('brand-new', 'PATCH', {})).json.data.name).toBe('new');
  });

  it.each([
    {},
    { name: ' ' },
    { name: 'x', slug: 'No' },
    { name: 'x', slug: 'no-' },
    { name: 'x', default_text_model: 'a/b' },
    { name: 'x', in_programme: true },
  ])('400: does not create %j', async (json) => {
    expect((await create(json)).json).toEqual(envelope(400));
  });

  it('400: keeps a workspace with keys, and the default one without a confirmation', async () => {
    const { json } = await create({ name: 'with a key' });
    const { id } = json.data;
    const { hash } = await createApiKey(world.store, { kind: 'api', name: 'k', workspaceId: id });
    expect((await at(id, 'DELETE')).json.error.message).toContain('API keys');
    await world.call({ method: 'PATCH', path: `/keys/${hash}`, json: { disabled: true } });
    expect((await at(id, 'DELETE')).status).toBe(200);

    await using other = await startManagementWorld();
    const { workspaceId, apiKeyHash } = other.ours;
    const remove = (query: string) =>
      other.call({ method: 'DELETE', path: `/workspaces/${workspaceId}${query}` });
    expect((await remove('')).json.error.message).toContain('confirm_default_workspace_deletion');
    const confirmed = '?confirm_default_workspace_deletion=true';
    expect((await remove(confirmed)).json.error.message).toContain('API keys');
    const { json: keys } = await other.call({ path: '/keys' });
    for (const key of keys.data) await other.call({ method: 'DELETE', path: `/keys/${key.hash}` });
    expect(keys.data.map((key: { hash: string }) => key.hash)).toContain(apiKeyHash);
    expect((await remove(confirmed)).json).toEqual({ deleted: true });
    expect((await other.call({ path: '/keys' })).status).toBe(400);
  });
});

describe('members', () => {
  const members = async (id: string) => {
    const { json } = await at(`${id}/members`);
    return json.data.map((row: { user_id: string }) => row.user_id);
  };

  it('adds people of the organization, removes them, and adds them again', async () => {
    const { userId } = world.ours;
    const { json } = await create({ name: 'joined' });
    const { id } = json.data;
    const added = await at(`${id}/members/add`, 'POST', { user_ids: [userId, userId] });
    expect(added.json).toMatchObject({
      added_count: 1,
      data: [{ id: `${id}:${userId}`, user_id: userId, workspace_id: id, role: 'member' }],
    });
    expect((await at(`${id}/members/add`, 'POST', { user_ids: [userId] })).json.added_count).toBe(1);
    expect(await members(id)).toEqual([userId]);
    const remove = () => at(`${id}/members/remove`, 'POST', { user_ids: [userId, 'user_unknown'] });
    expect((await remove()).json).toEqual({ removed_count: 1 });
    expect((await remove()).json).toEqual({ removed_count: 0 });
    expect(await members(id)).toEqual([]);
    expect((await at(`${id}/members/add`, 'POST', { user_ids: [userId] })).json.added_count).toBe(1);
  });

  it('400: adds nobody if one is a stranger, whether unknown or of another account', async () => {
    const { json } = await create({ name: 'closed' });
    for (const stranger of ['user_unknown', world.theirs.userId]) {
      const user_ids = [world.ours.userId, stranger];
      const reply = await at(`${json.data.id}/members/add`, 'POST', { user_ids });
      expect(reply.json.error.message).toBe(`${stranger} is not a member of this organization.`);
    }
    expect(await members(json.data.id)).toEqual([world.ours.userId]);
  });

  it('lists everybody in a workspace once, with the e-mail address where it is known', async () => {
    await using other = await startManagementWorld();
    const { organizationId, workspaceId, userId } = other.ours;
    const { id: second } = await createWorkspace(other.store, { organizationId, name: 'second' });
    const grace = await createUser(other.store, { name: 'Grace', email: 'Grace@example.com' });
    for (const place of [workspaceId, second]) {
      await addMember(other.store, { workspaceId: place, userId: grace.id });
    }
    const list = (query = '') => other.call({ path: `/organization/members${query}` });
    const { json } = await list();
    expect(json.total_count).toBe(2);
    const person = { last_name: null, role: 'org:member' };
    expect(new Set(json.data)).toEqual(
      new Set([
        { ...person, id: userId, email: '', first_name: 'Ada' },
        { ...person, id: grace.id, email: 'Grace@example.com', first_name: 'Grace' },
      ]),
    );
    expect((await list('?limit=1&offset=1')).json.data).toHaveLength(1);
    expect((await list('?limit=0')).status).toBe(400);
  });
});
