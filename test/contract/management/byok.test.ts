import { deleteWorkspace } from '@ori/administration/workspaces';
import { open } from '@ori/sealing/open';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestCredential, envelope, startManagementWorld, useManagementWorld } from './world.ts';

const world = await useManagementWorld();

describe('GET /byok', () => {
  const list = (query = '') => world.call({ path: `/byok${query}` });

  it('lists the credentials of the default workspace and the global ones, in their order', async () => {
    const { id: elsewhere } = await createWorkspace(world.store, {
      organizationId: world.ours.organizationId,
      name: 'elsewhere',
    });
    const second = await createTestCredential(world.store, world.ours, { sort_order: 2 });
    const first = await createTestCredential(world.store, world.ours, { sort_order: 1, workspace_id: null });
    await createTestCredential(world.store, world.ours, { workspace_id: elsewhere });
    await createTestCredential(world.store, world.theirs);
    const { status, json } = await list();
    expect(status).toBe(200);
    expect(json.total_count).toBe(2);
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual([first, second]);
    expect(json.data[0]).toEqual({
      id: first,
      workspace_id: null,
      provider: 'openai',
      name: null,
      label: 'sk-...wxyz',
      disabled: false,
      is_fallback: false,
      is_required: false,
      is_byok_only: false,
      sort_order: 1,
      allowed_api_key_hashes: null,
      allowed_models: null,
      allowed_user_ids: null,
      declared_region: null,
      declared_zdr: null,
      created_at: expect.stringMatching(/\.\d{3}Z$/),
    });
  });

  it('counts all matches on every page, and filters by provider and workspace', async () => {
    const { json } = await list('?limit=1&offset=1');
    expect(json).toMatchObject({ total_count: 2, data: [{ sort_order: 2 }] });
    expect((await list('?provider=anthropic')).json).toEqual({ data: [], total_count: 0 });
    expect((await list(`?workspace_id=${world.ours.workspaceId}`)).json.total_count).toBe(2);
  });

  it.each([
    '?limit=0',
    '?limit=101',
    '?limit=01',
    '?offset=-1',
    '?offset=1e3',
    '?provider=nobody',
    '?workspace_id=ws_unknown',
    '?limit=2&limit=3',
  ])('400: refuses %s', async (query) => {
    expect((await list(query)).json).toEqual(envelope(400));
  });

  it('400: requires a workspace if the default one was deleted', async () => {
    await using bereft = await startManagementWorld();
    await deleteWorkspace(bereft.store, { workspaceId: bereft.ours.workspaceId });
    const { status, json } = await bereft.call({ path: '/byok' });
    expect(status).toBe(400);
    expect(json.error.message).toContain('workspace_id');
  });
});

describe('POST, GET and DELETE of a credential', () => {
  const key = 'sk-proj-0123456789abcdefghijklmn';
  const create = (json: object) =>
    world.call({ method: 'POST', path: '/byok', json: { provider: 'openai', key, ...json } });

  it('201: stores it sealed to its row, never shows the key, and deletes it', async () => {
    const { status, json, text } = await create({ name: 'new', allowed_models: ['a/b'] });
    expect(status).toBe(201);
    const { id } = json.data;
    const { workspaceId: workspace_id, organizationId } = world.ours;
    expect(json.data).toMatchObject({ name: 'new', label: 'sk-...klmn', workspace_id, disabled: false });
    expect(text).not.toContain(key);
    const { rows } = await sql<{ sealed_key: string }>`
      select sealed_key from byok_credentials where id = ${id}`.execute(world.store.kysely);
    const context = {
      table: 'byok_credentials',
      column: 'sealed_key',
      row: id,
      organizationId,
    };
    expect(Buffer.from(await open(world.ring, rows[0]?.sealed_key ?? '', context)).toString()).toBe(key);
    expect((await world.call({ path: `/byok/${id}` })).json).toEqual(json);
    const remove = () => world.call({ method: 'DELETE', path: `/byok/${id}` });
    expect((await remove()).json).toEqual({ deleted: true });
    expect((await remove()).json).toEqual(envelope(404));
    expect((await world.call({ path: `/byok/${id}` })).json).toEqual(envelope(404));
  });

  it('201: with null for every workspace', async () => {
    const { json } = await create({ workspace_id: null });
    expect(json.data.workspace_id).toBeNull();
    await world.call({ method: 'DELETE', path: `/byok/${json.data.id}` });
  });

  it.each([
    { key: undefined },
    { provider: 'nobody' },
    { key: ' x' },
    { is_fallback: true, is_required: true },
    { provider: 'anthropic', declared_region: 'europe' },
    { workspace_id: 'ws_unknown' },
    { allowed_api_key_hashes: ['0'.repeat(64)] },
    { sort_order: 1 },
  ])('400: %j', async (json) => {
    expect((await create(json)).json).toEqual(envelope(400));
  });
});

describe('PATCH /byok/{id}', () => {
  let id: string;
  beforeEach(async () => {
    id = await createTestCredential(world.store, world.ours);
  });
  const update = (json: unknown, of = id) => world.call({ method: 'PATCH', path: `/byok/${of}`, json });
  const stored = async () => {
    const { rows } = await sql<{ sealed_key: string; label: string }>`
      select sealed_key, label from byok_credentials where id = ${id}`.execute(world.store.kysely);
    return rows[0];
  };

  it('changes the given fields and keeps the rest', async () => {
    const { status, json } = await update({
      name: 'production',
      disabled: true,
      allowed_models: ['openai/gpt-5.2'],
      allowed_api_key_hashes: [world.ours.apiKeyHash],
      allowed_user_ids: [],
      declared_zdr: false,
    });
    expect(status).toBe(200);
    expect(json.data).toMatchObject({
      id,
      name: 'production',
      disabled: true,
      is_fallback: false,
      label: 'sk-...wxyz',
      allowed_models: ['openai/gpt-5.2'],
      allowed_api_key_hashes: [world.ours.apiKeyHash],
      allowed_user_ids: [],
      declared_zdr: false,
    });
    const cleared = await update({
      name: null,
      allowed_models: null,
      allowed_api_key_hashes: null,
      declared_zdr: null,
    });
    expect(cleared.json.data).toMatchObject({
      name: null,
      allowed_models: null,
      disabled: true,
      declared_zdr: null,
    });
    expect((await stored())?.sealed_key).toBe('never opened in this test');
  });

  it('lets the hash of a key that was deleted since stay', async () => {
    const gone = '0'.repeat(64);
    id = await createTestCredential(world.store, world.ours, { allowed_api_key_hashes: [gone] });
    const hashes = [gone, world.ours.apiKeyHash];
    expect((await update({ allowed_api_key_hashes: hashes })).json.data.allowed_api_key_hashes).toEqual(
      hashes,
    );
    expect((await update({ allowed_api_key_hashes: ['1'.repeat(64)] })).status).toBe(400);
  });

  it('rotates the key in place: sealed to its row, with a new label, never shown', async () => {
    const key = 'sk-proj-0123456789abcdefghijklmn';
    const { text, json } = await update({ key });
    expect(json.data.label).toBe('sk-...klmn');
    expect(text).not.toContain(key);
    const row = await stored();
    const opened = await open(world.ring, row?.sealed_key ?? '', {
      table: 'byok_credentials',
      column: 'sealed_key',
      row: id,
      organizationId: world.ours.organizationId,
    });
    expect(new TextDecoder().decode(opened)).toBe(key);
  });

  it('derives the region of a structured key, and requires the declared region to match', async () => {
    const key = JSON.stringify({ api_key: 'sk-0123456789', region: 'europe' });
    expect((await update({ key })).json.data.declared_region).toBe('europe');
    expect((await update({ declared_region: 'us' })).status).toBe(400);
    expect((await update({ declared_region: null })).json.data.declared_region).toBeNull();
    expect((await update({ key: 'sk-plain' })).json.data.declared_region).toBeNull();
  });

  it.each([
    ['an unknown field', { colour: 'red' }],
    ['an empty key', { key: '' }],
    ['a key with a line end', { key: 'sk-0123456789\n' }],
    ['a key with leading white space', { key: ' sk-0123456789' }],
    ['a key with a trailing wide space', { key: 'sk-0123456789\u3000' }],
    ['a key with a control character in it', { key: 'sk-01234\u007f56789' }],
    ['a structured key whose key is white space', { key: '{"api_key":"sk-1 ","region":"us"}' }],
    ['a structured key with a control character', { key: '{"api_key":"sk\\u0007","region":"us"}' }],
    ['a long name', { name: 'x'.repeat(256) }],
    ['a text for a flag', { disabled: 'yes' }],
    ['null for a flag', { is_fallback: null }],
    ['flags that exclude each other', { is_fallback: true, is_byok_only: true }],
    ['a required fallback', { is_fallback: true, is_required: true }],
    ['no hash', { allowed_api_key_hashes: [] }],
    ['a hash in capitals', { allowed_api_key_hashes: ['A'.repeat(64)] }],
    ['a hash of another account', { allowed_api_key_hashes: ['0'.repeat(64)] }],
    ['101 hashes', { allowed_api_key_hashes: Array(101).fill('0'.repeat(64)) }],
    ['101 models', { allowed_models: Array(101).fill('openai/gpt-5.2') }],
    ['101 users', { allowed_user_ids: Array(101).fill('user_1') }],
    ['an unknown region', { declared_region: 'mars' }],
    ['a region that the provider does not have', { declared_region: 'europe' }],
    ['a text that PostgreSQL cannot store', { name: 'nul\0' }],
    ['a list', []],
    ['null', null],
  ])('400: refuses %s and changes nothing', async (_what, json) => {
    const before = await stored();
    expect((await update(json)).json).toEqual(envelope(400));
    expect(await stored()).toEqual(before);
  });

  it.each([
    ['', 'application/json', 400],
    ['{', 'application/json', 400],
    ['{}', 'text/plain', 415],
    ['{}', ['application/json', 'application/json'], 415],
    [Buffer.from([0x7b, 0xff, 0x7d]), 'application/json', 400],
    ['x'.repeat(1_048_577), 'application/json', 413],
  ])('refuses the body %#', async (body, type, expected) => {
    expect(
      (
        await world.call({
          method: 'PATCH',
          path: `/byok/${id}`,
          body,
          headers: [type].flat().flatMap((one) => ['Content-Type', one]),
        })
      ).json,
    ).toEqual(envelope(expected));
  });

  it('404: a credential is deleted with its workspace', async () => {
    const { organizationId } = world.ours;
    const { id: workspaceId } = await createWorkspace(world.store, { organizationId, name: 'to be deleted' });
    const doomed = await createTestCredential(world.store, { ...world.ours, workspaceId });
    expect((await update({ disabled: true }, doomed)).status).toBe(200);
    await deleteWorkspace(world.store, { workspaceId });
    expect((await update({ disabled: false }, doomed)).status).toBe(404);
    expect((await update({}, doomed)).status).toBe(404);
  });

  it('409: refuses a change while another is in progress, as retryable', async () => {
    await world.store.kysely.transaction().execute(async (trx) => {
      await sql`select 1 from byok_credentials where id = ${id} for update`.execute(trx);
      for (const headers of [[], ['If-Match', '*']]) {
        const path = `/byok/${id}`;
        expect(
          (
            await world.call({
              method: 'PATCH',
              path,
              json: { disabled: true },
              headers,
            })
          ).json,
        ).toEqual(envelope(409));
      }
    });
    expect((await update({ disabled: true })).status).toBe(200);
  });
});
