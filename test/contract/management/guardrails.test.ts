import { randomUUID } from 'node:crypto';
import { deleteWorkspace } from '@ori/administration/workspaces';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { describe, expect, it } from 'vitest';
import { envelope, startManagementWorld, useManagementWorld } from './world.ts';

const world = await useManagementWorld();

const create = (json: unknown, bearer?: string) =>
  world.call({ method: 'POST', path: '/guardrails', json, ...(bearer !== undefined && { bearer }) });
const created = async (json: object = {}, bearer?: string): Promise<{ id: string }> =>
  (await create({ name: 'policy', ...json }, bearer)).json.data;
const update = (id: string, json: unknown) =>
  world.call({ method: 'PATCH', path: `/guardrails/${id}`, json });

describe('POST /guardrails', () => {
  it('201: stores a name alone, everything else unset', async () => {
    const { status, json } = await create({ name: 'policy' });
    expect(status).toBe(201);
    const { id, name, workspace_id, include_byok_in_budgets, created_at, updated_at, ...unset } = json.data;
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect([name, workspace_id]).toEqual(['policy', world.ours.workspaceId]);
    expect(include_byok_in_budgets).toBe(false);
    for (const time of [created_at, updated_at]) expect(time).toMatch(/\.\d{3}Z$/);
    expect(unset).toHaveProperty('limit_usd');
    expect(new Set(Object.values(unset))).toEqual(new Set([null]));
  });

  it('stores everything that it accepts, and shows the label of each builtin filter', async () => {
    const policy = {
      description: 'for production',
      allowed_models: ['openai/gpt-5.2'],
      allowed_providers: ['openai'],
      ignored_models: ['meta/llama'],
      ignored_providers: ['groq'],
      limit_usd: 12.5,
      reset_interval: 'monthly',
      include_byok_in_budgets: true,
      content_filters: [{ pattern: '\\bsk-[a-z0-9]{8}\\b', action: 'redact', label: '[KEY]' }],
    };
    const content_filter_builtins = [
      { slug: 'email', action: 'redact' },
      { slug: 'regex-prompt-injection', action: 'flag', scan_scope: 'user_only' },
    ];
    const { json } = await create({ name: 'full', ...policy, content_filter_builtins });
    expect(json.data).toMatchObject({
      ...policy,
      content_filter_builtins: [
        { slug: 'email', action: 'redact', label: '[EMAIL]' },
        {
          slug: 'regex-prompt-injection',
          action: 'flag',
          scan_scope: 'user_only',
          label: expect.any(String),
        },
      ],
    });
    const again = await update(json.data.id, { content_filter_builtins: json.data.content_filter_builtins });
    expect(again.json.data.content_filter_builtins).toEqual(json.data.content_filter_builtins);
  });

  it('takes a filter without a label', async () => {
    const filter = { pattern: 'x', action: 'block' };
    const { json } = await create({ name: 'unlabelled', content_filters: [filter] });
    expect(json.data.content_filters).toEqual([{ ...filter, label: null }]);
  });

  it('copies the deprecated enforce_zdr into each flag that is not given', async () => {
    const { json } = await create({ name: 'zdr', enforce_zdr: true, enforce_zdr_google: false });
    expect(json.data).toMatchObject({
      enforce_zdr: null,
      enforce_zdr_anthropic: true,
      enforce_zdr_google: false,
      enforce_zdr_openai: true,
      enforce_zdr_other: true,
    });
  });

  it.each([
    ['a long description', { name: 'x', description: 'x'.repeat(1001) }],
    ['a long pattern', { name: 'x', content_filters: [{ pattern: 'x'.repeat(1001), action: 'block' }] }],
    ['an unknown slug', { name: 'x', content_filter_builtins: [{ slug: 'iban', action: 'block' }] }],
    [
      'flag for anything but prompt injection',
      { name: 'x', content_filter_builtins: [{ slug: 'email', action: 'flag' }] },
    ],
    [
      'flag for a custom filter',
      { name: 'x', content_filters: [{ pattern: 'a', action: 'flag', label: null }] },
    ],
    ['an empty pattern', { name: 'x', content_filters: [{ pattern: '', action: 'block', label: null }] }],
    [
      'a back-reference',
      { name: 'x', content_filters: [{ pattern: '(a)\\1', action: 'block', label: null }] },
    ],
    ['an unknown workspace', { name: 'x', workspace_id: 'ws_unknown' }],
  ])('400: refuses %s', async (_what, json) => {
    expect((await create(json)).json).toEqual(envelope(400));
  });

  it.each(['allowed_models', 'allowed_providers'])(
    '400: refuses an empty %s, which would allow nothing, and says how to lift the restriction',
    async (field) => {
      const { status, json } = await create({ name: 'x', [field]: [] });
      expect(status).toBe(400);
      const message = `${field}: an empty list would allow nothing; null lifts the restriction.`;
      expect(json).toEqual({ error: { code: 400, message } });
    },
  );

  it.each(['ignored_models', 'ignored_providers'])('clears %s with an empty list', async (field) => {
    const { id } = await created({ [field]: ['a/b'] });
    expect((await update(id, { [field]: [] })).json.data[field]).toBeNull();
    expect((await create({ name: 'x', [field]: [] })).json.data[field]).toBeNull();
  });

  it.each([
    ['colour: unknown field.', { name: 'x', colour: 'red' }],
    ['name: required.', {}],
    ['name: must be a string.', { name: 7 }],
    ['name: must have at least 1 character.', { name: '' }],
    ['name: must have at most 200 characters.', { name: 'x'.repeat(201) }],
    ['limit_usd: must be at least 0.', { name: 'x', limit_usd: -1 }],
    ['limit_usd: must be a number.', { name: 'x', limit_usd: '1' }],
    ['reset_interval: must be one of daily, weekly, monthly.', { name: 'x', reset_interval: 'hourly' }],
    ['allowed_models: must be a list.', { name: 'x', allowed_models: 'a/b' }],
    ['ignored_models.0: must have at least 1 character.', { name: 'x', ignored_models: [''] }],
    ['The body: must be an object.', []],
    ['The body: unknown field.', { name: 'x', 'Not a field name': 1 }],
    [
      'content_filters: must have at most 50 items.',
      { name: 'x', content_filters: Array(51).fill({ pattern: 'a', action: 'block' }) },
    ],
  ])('400: explains what is wrong: %s', async (message, json) => {
    expect((await create(json)).json).toEqual({ error: { code: 400, message } });
  });
});

it('as many requests with patterns as an account may have in progress wait for each other, from the start', async () => {
  await using other = await startManagementWorld({});
  const json = {
    name: 'policy',
    content_filters: [{ pattern: 'PRJ-[0-9]{4}', action: 'block', label: 'x' }],
  };
  const all = Array.from({ length: 64 }, () => other.call({ method: 'POST', path: '/guardrails', json }));
  expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([201]));
});

describe('GET /guardrails', () => {
  it('pages newest first, with the total of all matches', async () => {
    const ids = [(await created()).id, (await created()).id];
    const { status, json } = await world.call({ path: '/guardrails?limit=1' });
    expect(status).toBe(200);
    expect(json.data[0].id).toBe(ids[1]);
    expect(json.total_count).toBeGreaterThanOrEqual(2);
    expect((await world.call({ path: '/guardrails?limit=1&offset=1' })).json.data[0].id).toBe(ids[0]);
    expect((await world.call({ path: '/guardrails?limit=100' })).status).toBe(200);
  });
});

describe('GET, PATCH, DELETE /guardrails/{id}', () => {
  it('changes the given fields, clears null ones, replaces whole lists', async () => {
    const { id } = await created({ description: 'before', allowed_models: ['a/b', 'c/d'], limit_usd: 5 });
    const { status, json } = await update(id, { description: null, allowed_models: ['e/f'] });
    expect(status).toBe(200);
    expect(json.data).toMatchObject({
      id,
      description: null,
      allowed_models: ['e/f'],
      limit_usd: 5,
      name: 'policy',
    });
    expect(Date.parse(json.data.updated_at)).toBeGreaterThanOrEqual(Date.parse(json.data.created_at));
    expect((await world.call({ path: `/guardrails/${id}` })).json).toEqual(json);
  });

  it('an empty change changes nothing, not even updated_at', async () => {
    const { id } = await created();
    const before = await world.call({ path: `/guardrails/${id}` });
    expect(await update(id, {})).toMatchObject({ status: 200, text: before.text });
    expect((await world.call({ path: `/guardrails/${id}` })).text).toBe(before.text);
  });

  it('404: a guardrail is deleted with its workspace', async () => {
    const { id: workspace_id } = await createWorkspace(world.store, {
      organizationId: world.ours.organizationId,
      name: 'to be deleted',
    });
    const { id } = await created({ workspace_id });
    const keys = { key_hashes: [world.ours.apiKeyHash] };
    const at = `/guardrails/${id}/assignments/keys`;
    expect((await world.call({ method: 'POST', path: at, json: keys })).status).toBe(200);
    await deleteWorkspace(world.store, { workspaceId: workspace_id });
    for (const [method, path, json] of [
      ['GET', `/guardrails/${id}`, undefined],
      ['PATCH', `/guardrails/${id}`, {}],
      ['PATCH', `/guardrails/${id}`, { name: 'x' }],
      ['GET', at, undefined],
      ['POST', at, keys],
      ['POST', `${at}/remove`, keys],
      ['DELETE', `/guardrails/${id}`, undefined],
    ] as const) {
      const { status } = await world.call({ method, path, json });
      expect([method, path, status]).toEqual([method, path, 404]);
    }
    expect((await world.call({ path: '/guardrails/assignments/keys' })).json.data).not.toContainEqual(
      expect.objectContaining({ guardrail_id: id }),
    );
  });

  it('400: does not move a guardrail to another workspace', async () => {
    const { id } = await created();
    const { organizationId } = world.ours;
    const { id: workspace_id } = await createWorkspace(world.store, { organizationId, name: 'elsewhere' });
    expect((await update(id, { workspace_id })).status).toBe(400);
  });

  it('404: one response for an id that is unknown, malformed or another account’s', async () => {
    const { id: theirs } = await created({}, world.theirs.managementKey);
    const texts = new Set<string>();
    for (const id of [theirs, randomUUID(), 'not-a-uuid', '%zz']) {
      for (const [method, path, json] of [
        ['GET', `/guardrails/${id}`, undefined],
        ['PATCH', `/guardrails/${id}`, {}],
        ['DELETE', `/guardrails/${id}`, undefined],
        ['GET', `/guardrails/${id}/assignments/keys`, undefined],
        ['GET', `/guardrails/${id}/assignments/members`, undefined],
        ['POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [world.ours.apiKeyHash] }],
        ['POST', `/guardrails/${id}/assignments/members/remove`, { member_user_ids: [world.ours.userId] }],
      ] as const) {
        const reply = await world.call({ method, path, json });
        expect([method, path, reply.status]).toEqual([method, path, 404]);
        texts.add(reply.text);
      }
    }
    expect([...texts]).toHaveLength(1);
  });
});

describe.each([
  ['keys', () => ({ key_hashes: [world.ours.apiKeyHash] }), () => ({ key_hashes: ['0'.repeat(64)] })],
  ['members', () => ({ member_user_ids: [world.ours.userId] }), () => ({ member_user_ids: ['user_nobody'] })],
] as const)('assignments to %s', (segment, ours, unknown) => {
  const at = (id: string, rest = '') => `/guardrails/${id}/assignments/${segment}${rest}`;
  const assign = (id: string, json: unknown) => world.call({ method: 'POST', path: at(id), json });
  const unassign = (id: string, json: unknown) =>
    world.call({ method: 'POST', path: at(id, '/remove'), json });
  const twice = (body: object) =>
    Object.fromEntries(Object.entries(body).map(([name, list]) => [name, [...list, ...list]]));

  it('assigns, counting repeats once and existing assignments too', async () => {
    const { id } = await created();
    expect(await assign(id, twice(ours()))).toMatchObject({ status: 200, json: { assigned_count: 1 } });
    expect((await assign(id, ours())).json).toEqual({ assigned_count: 1 });
    const { json } = await world.call({ path: at(id) });
    expect(json.total_count).toBe(1);
    expect(json.data[0]).toMatchObject({
      guardrail_id: id,
      assigned_by: world.ours.userId,
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      ...(segment === 'keys'
        ? { key_hash: world.ours.apiKeyHash, key_name: 'ordinary', key_label: expect.any(String) }
        : { user_id: world.ours.userId, organization_id: world.ours.organizationId }),
    });
  });

  it('moves assignments from another guardrail, and unassigns only from the one named', async () => {
    const [{ id: first }, { id: second }] = [await created(), await created()];
    await assign(first, ours());
    await assign(second, ours());
    expect((await world.call({ path: at(first) })).json.total_count).toBe(0);
    const all = await world.call({ path: `/guardrails/assignments/${segment}` });
    expect(all.json).toMatchObject({ total_count: 1, data: [{ guardrail_id: second }] });
    expect((await unassign(first, ours())).json).toEqual({ unassigned_count: 0 });
    expect((await unassign(second, ours())).json).toEqual({ unassigned_count: 1 });
  });

  it('400: assigns nothing if one target belongs to another account', async () => {
    const { id } = await created();
    const strangers: string[] = Object.values(unknown()).flat();
    const mixed = Object.fromEntries(
      Object.entries(ours()).map(([name, list]) => [name, [...list, ...strangers]]),
    );
    expect((await assign(id, mixed)).json).toEqual(envelope(400));
    expect((await world.call({ path: at(id) })).json.total_count).toBe(0);
  });

  it.each([[{}], [{ key_hashes: [], member_user_ids: [] }], [{ key_hashes: 'x' }]])(
    '400: refuses the selection %j',
    async (json) => {
      const { id } = await created();
      expect((await assign(id, json)).status).toBe(400);
      expect((await unassign(id, json)).status).toBe(400);
    },
  );
});

describe('the size of a guardrail', () => {
  it('is limited: 400 beyond it, and nothing is stored', async () => {
    const names = (count: number) => ({
      ignored_models: Array.from({ length: count }, () => 'm'.repeat(200)),
    });
    const { id } = await created(names(300));
    const message = 'guardrail: its lists and filters have more than 65536 bytes as JSON.';
    expect((await update(id, names(330))).json).toEqual({ error: { code: 400, message } });
    expect((await create({ name: 'policy', ...names(330) })).json).toEqual({ error: { code: 400, message } });
    expect((await world.call({ path: `/guardrails/${id}` })).json.data).toMatchObject(names(300));
  });
});

it('finds the guardrail of one key and of one member in the lists of all assignments', async () => {
  const created = await world.call({ method: 'POST', path: '/guardrails', json: { name: 'policy' } });
  const at = `/guardrails/${created.json.data.id}/assignments`;
  const { apiKeyHash, userId } = world.ours;
  for (const [segment, field, filter, target] of [
    ['keys', 'key_hashes', 'key_hash', apiKeyHash],
    ['members', 'member_user_ids', 'user_id', userId],
  ] as const) {
    await world.call({ method: 'POST', path: `${at}/${segment}`, json: { [field]: [target] } });
    const list = (value: string) =>
      world.call({ path: `/guardrails/assignments/${segment}?${filter}=${value}` });
    expect((await list(target)).json).toMatchObject({ total_count: 1, data: [{ [filter]: target }] });
    const other = segment === 'keys' ? '0'.repeat(64) : 'user_unknown';
    expect((await list(other)).json).toEqual({ data: [], total_count: 0 });
  }
  expect((await world.call({ path: '/guardrails/assignments/keys?key_hash=x' })).status).toBe(400);
});
