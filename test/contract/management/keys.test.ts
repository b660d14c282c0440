import { disableApiKey } from '@ori/administration/api-keys';
import { createIntern } from '@ori/administration/interns';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { envelope, useManagementWorld } from './world.ts';

const world = await useManagementWorld();

const create = (json: unknown, bearer = world.ours.managementKey) =>
  world.call({ method: 'POST', path: '/keys', json, bearer });
const change = (hash: string, json: unknown) => world.call({ method: 'PATCH', path: `/keys/${hash}`, json });

describe('POST /keys', () => {
  it('201: shows the key once, and it can be used at once', async () => {
    const { status, json } = await create({ name: 'ci', creator_user_id: world.ours.userId });
    expect(status).toBe(201);
    expect(json.key).toMatch(/^sk-ori-v1-[0-9a-f]{64}$/);
    expect(json.data).toMatchObject({
      name: 'ci',
      label: `sk-...${json.key.slice(-4)}`,
      disabled: false,
      workspace_id: world.ours.workspaceId,
      creator_user_id: world.ours.userId,
      expires_at: null,
      updated_at: null,
    });
    expect((await world.call({ path: '/interns', bearer: json.key })).status).toBe(200);
    for (const path of ['/keys', `/keys/${json.data.hash}`]) {
      expect((await world.call({ path })).text).not.toContain(json.key);
    }
  });

  it('has the audit line that ori-admin leaves, with the management key as its actor', async () => {
    const { json } = await create({ name: 'audited' });
    const { rows } = await sql<{ actor: string; operation: string; organization_id: string }>`
      select actor, operation, organization_id from admin_audit
      where table_name = 'api_keys' and row_key = ${json.data.hash}`.execute(world.store.kysely);
    const { organizationId } = world.ours;
    expect(rows).toEqual([
      {
        actor: expect.stringMatching(/^api_key:[0-9a-f]{64}$/),
        operation: 'insert',
        organization_id: organizationId,
      },
    ]);
  });

  it.each([
    ['2099-01-01T00:00:00Z', '2099-01-01T00:00:00.000Z'],
    ['2099-01-01T00:00:00.1234Z', '2099-01-01T00:00:00.123Z'],
    ['2099-01-01T00:00:00+05:30', '2098-12-31T18:30:00.000Z'],
    [null, null],
  ])('keeps the expiry %s', async (expires_at, kept) => {
    expect((await create({ name: 'dated', expires_at })).json.data.expires_at).toBe(kept);
  });

  it('refuses the key from its expiry on', async () => {
    const { json } = await create({ name: 'short', expires_at: new Date(Date.now() + 60_000).toISOString() });
    const use = () => world.call({ path: '/interns', bearer: json.key });
    expect((await use()).status).toBe(200);
    await sql`update api_keys set expires_at = now() where hash = ${json.data.hash}`.execute(
      world.store.kysely,
    );
    expect((await use()).status).toBe(401);
  });

  it.each([
    ['without a name', {}],
    ['with a blank name', { name: ' ' }],
    ['with a spending limit', { name: 'x', limit: 10 }],
    ['whose limit has provider credentials', { name: 'x', include_byok_in_limit: true }],
    ['with an unknown field', { name: 'x', kind: 'management' }],
    ['in an unknown workspace', { name: 'x', workspace_id: 'ws_unknown' }],
    ['of somebody outside the organization', { name: 'x', creator_user_id: 'user_unknown' }],
    ['that has expired', { name: 'x', expires_at: '2020-01-01T00:00:00Z' }],
    ['that expires to the minute', { name: 'x', expires_at: '2099-01-01T00:00Z' }],
    ['that expires on no day', { name: 'x', expires_at: '2099-02-30T00:00:00Z' }],
    ['that expires at no known place', { name: 'x', expires_at: '2099-01-01T00:00:00' }],
    ['that expires in the year 10000', { name: 'x', expires_at: '9999-12-31T23:59:59-00:01' }],
  ])('400: no key %s', async (_what, json) => {
    const reply = await create(json);
    expect(reply.json).toEqual(envelope(400));
  });
});

describe('GET /keys', () => {
  it('lists the ordinary keys of one workspace, newest first, without disabled ones', async () => {
    const { organizationId } = world.ours;
    const { id: workspaceId } = await createWorkspace(world.store, { organizationId, name: 'listed' });
    const { id: internId } = await createIntern(world.store, { workspaceId, name: 'i' });
    const hashes: string[] = [];
    for (const own of [{}, { internId }, {}]) {
      const { hash } = await createApiKey(world.store, { kind: 'api', name: 'k', workspaceId, ...own });
      hashes.unshift(hash);
    }
    await createApiKey(world.store, { kind: 'management', name: 'm', organizationId });
    const list = async (query = '') => {
      const { json } = await world.call({ path: `/keys?workspace_id=${workspaceId}${query}` });
      return json.data.map(({ hash }: { hash: string }) => hash);
    };
    expect(new Set(await list())).toEqual(new Set(hashes));
    expect(await list('&offset=3')).toEqual([]);
    await disableApiKey(world.store, { hash: hashes[0] ?? '' });
    expect(await list()).toHaveLength(2);
    expect(await list('&include_disabled=true')).toHaveLength(3);
  });

  it('leads through every key of a workspace once, and counts them on each page', async () => {
    const { organizationId } = world.ours;
    const { id: workspaceId } = await createWorkspace(world.store, { organizationId, name: 'walked' });
    const hashes = new Set<string>();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      hashes.add((await createApiKey(world.store, { kind: 'api', name, workspaceId })).hash);
    }
    await sql`update api_keys set created_at = '2026-01-01' where workspace_id = ${workspaceId}`.execute(
      world.store.kysely,
    );
    const seen: string[] = [];
    for (const offset of [0, 2, 4, 6]) {
      const path = `/keys?workspace_id=${workspaceId}&limit=2&offset=${offset}`;
      const { json } = await world.call({ path });
      expect(json.total_count).toBe(5);
      seen.push(...json.data.map(({ hash }: { hash: string }) => hash));
    }
    expect(seen).toHaveLength(5);
    expect(new Set(seen)).toEqual(hashes);
  });

  it('400: refuses a flag that is neither true nor false', async () => {
    expect((await world.call({ path: '/keys?include_disabled=yes' })).json).toEqual(envelope(400));
  });
});

describe('/keys/{hash}', () => {
  it('renames, disables and enables a key; a disabled one is refused at the next request', async () => {
    const { json } = await create({ name: 'before' });
    const { hash } = json.data;
    const use = async () => (await world.call({ path: '/interns', bearer: json.key })).status;
    const disabled = await change(hash, { name: 'after', disabled: true });
    expect(disabled.json.data).toMatchObject({
      name: 'after',
      disabled: true,
      updated_at: expect.any(String),
    });
    expect(await use()).toBe(401);
    expect((await change(hash, { disabled: false })).json.data).toMatchObject({ disabled: false });
    expect(await use()).toBe(200);
    expect((await world.call({ path: `/keys/${hash}` })).json.data).toMatchObject({ name: 'after' });
  });

  it('deletes a key with its assignment; afterwards it is unknown', async () => {
    const { json } = await create({ name: 'deleted' });
    const { hash } = json.data;
    const guardrail = await world.call({ method: 'POST', path: '/guardrails', json: { name: 'g' } });
    const at = `/guardrails/${guardrail.json.data.id}/assignments/keys`;
    await world.call({ method: 'POST', path: at, json: { key_hashes: [hash] } });
    const { json: deleted } = await world.call({ method: 'DELETE', path: `/keys/${hash}` });
    expect(deleted).toEqual({ deleted: true });
    expect((await world.call({ path: at })).json.data).toEqual([]);
    expect((await world.call({ path: '/interns', bearer: json.key })).status).toBe(401);
    for (const method of ['GET', 'DELETE']) {
      expect((await world.call({ method, path: `/keys/${hash}` })).json).toEqual(envelope(404));
    }
  });

  it('404: management keys, and what is no hash, are not there', async () => {
    const { organizationId } = world.ours;
    const { hash } = await createApiKey(world.store, { kind: 'management', name: 'm', organizationId });
    for (const path of [hash, 'x', 'A'.repeat(64), '%00']) {
      expect((await world.call({ path: `/keys/${path}` })).status).toBe(404);
    }
    expect((await change(hash, { disabled: true })).status).toBe(404);
  });

  it.each([{ name: '' }, { limit: 1 }, { disabled: 1 }, { kind: 'management' }])('400: %j', async (json) => {
    expect((await change(world.ours.apiKeyHash, json)).json).toEqual(envelope(400));
  });
});

describe('GET /key', () => {
  it('says which key the caller holds', async () => {
    const { organizationId, workspaceId, apiKey, internKey, managementKey } = world.ours;
    for (const [bearer, isManagement] of [
      [apiKey, false],
      [internKey, false],
      [managementKey, true],
    ] as const) {
      const { status, json } = await world.call({ path: '/key', bearer });
      expect(status).toBe(200);
      expect(json.data).toMatchObject({
        label: `sk-...${bearer.slice(-4)}`,
        is_management_key: isManagement,
        organization_id: organizationId,
        workspace_id: isManagement ? null : workspaceId,
      });
    }
  });
});
