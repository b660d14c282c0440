import { setIcon } from '@ori/administration/icons';
import { createIntern } from '@ori/administration/interns';
import { addMember, removeMember } from '@ori/administration/members';
import { setProgramme } from '@ori/administration/organizations';
import { addSubject, createUser } from '@ori/administration/users';
import { PRESENTATIONS } from '@ori/api/refusals';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { startManagementWorld, useManagementWorld } from './world.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

const world = await useManagementWorld();

const list = (query = '', bearer = world.ours.apiKey) => world.call({ path: `/interns${query}`, bearer });

describe('GET /interns', () => {
  it('lists the visible interns with exactly the fields of the interface', async () => {
    const { status, json, headers } = await list();
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(json).toEqual({
      data: [
        {
          id: world.ours.internId,
          name: 'charles',
          description: null,
          hostname: null,
          model: null,
          status: 'queued',
          workspace_id: world.ours.workspaceId,
          vault_id: null,
          attached_vault_id: null,
          instructions: null,
          icon_sha256: null,
          last_failure_message: null,
          progress: null,
          created_by_you: false,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          updated_at: expect.stringMatching(/\.\d{3}Z$/),
        },
      ],
      has_more: false,
    });
  });

  it('marks the interns that the calling key created', async () => {
    const { workspaceId, apiKeyHash } = world.theirs;
    const { id } = await createIntern(world.store, { workspaceId, name: 'mine' });
    await world.store.query('update interns set created_by_key_hash = $1 where id = $2', [apiKeyHash, id]);
    const { json } = await list('', world.theirs.apiKey);
    const mine = json.data.filter((intern: { created_by_you: boolean }) => intern.created_by_you);
    expect(mine).toMatchObject([{ id }]);
  });

  it('pages through all interns by cursor, newest first, none twice', async () => {
    const { id: workspaceId } = await createWorkspace(world.store, {
      organizationId: world.ours.organizationId,
      name: 'paged',
      inProgramme: true,
    });
    const { key } = await createApiKey(world.store, { kind: 'api', name: 'paged', workspaceId });
    const created: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      const at = new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(index / 3)));
      const { id } = await createIntern(world.store, { workspaceId, name: `i${index}` });
      await sql`update interns set created_at = ${at} where id = ${id}`.execute(world.store.kysely);
      created.push(id);
    }
    const seen: { id: string; created_at: string }[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { json } = await list(`?limit=3${cursor && `&starting_after=${cursor}`}`, key);
      seen.push(...json.data);
      expect(json.has_more).toBe(json.next_cursor !== undefined);
      cursor = json.next_cursor;
    }
    expect(seen.map(({ id }) => id).sort()).toEqual(created.sort());
    const keys = seen.map(({ created_at, id }) => `${created_at} ${id}`);
    expect(keys).toEqual([...keys].sort().reverse());
  });

  it('filters by status, ignoring repeats', async () => {
    const { id } = await createIntern(world.store, {
      workspaceId: world.ours.workspaceId,
      name: 'running',
      status: 'running',
    });
    const { json } = await list('?status=running,running,failed');
    expect(json.data.map((intern: { id: string }) => intern.id)).toEqual([id]);
  });

  it('lists to a session the interns of all its workspaces, or of one', async () => {
    const { id: userId } = await createUser(world.store, { name: 'of two workspaces' });
    await addSubject(world.store, { userId, issuer: world.issuer.url, subject: userId });
    const created: string[][] = [];
    for (const name of ['first', 'second']) {
      const { organizationId } = world.ours;
      const place = await createWorkspace(world.store, { organizationId, name, inProgramme: true });
      await addMember(world.store, { workspaceId: place.id, userId });
      created.push([place.id, (await createIntern(world.store, { workspaceId: place.id, name })).id]);
    }
    const token = await world.issuer.token({ subject: userId, scope: 'interns' });
    const seen = async (query: string) =>
      (await list(query, token)).json.data.map(({ id }: { id: string }) => id);
    expect((await seen('')).sort()).toEqual(created.map(([, intern]) => intern).sort());
    for (const [workspace, intern] of created)
      expect(await seen(`?workspace_id=${workspace}`)).toEqual([intern]);
  });

  it('400: explains the allowed limit', async () => {
    for (const limit of ['0', '501', '1.0', 'ten', '']) {
      const { json } = await list(`?limit=${limit}`);
      expect(json.error.message).toBe('limit: must be an integer from 1 to 500.');
    }
    const { json } = await list('?status=asleep');
    expect(json.error.message).toMatch(/^status: must be one of awaiting_slack_install, queued, /);
  });

  it.each(['?limit=1&limit=2', '?status=', '?status=asleep', '?starting_after=x', '?workspace_id='])(
    '400: refuses %s',
    async (query) => {
      const { status, json } = await list(query);
      expect(status).toBe(400);
      expect(json.error).toMatchObject({ code: 400, metadata: { reason: 'invalid_body', retryable: false } });
    },
  );

  it('404: one response for every caller without a collection', async () => {
    const { id: outside } = await createWorkspace(world.store, {
      organizationId: world.ours.organizationId,
      name: 'outside the programme',
    });
    const { key } = await createApiKey(world.store, { kind: 'api', name: 'outside', workspaceId: outside });
    const replies = [
      await list('', key),
      await list('', world.ours.internKey),
      await list(`?workspace_id=${world.theirs.workspaceId}`),
      await list('', await world.issuer.token({ subject: 'nobody', scope: 'interns' })),
    ];
    for (const { status, text } of replies) {
      expect(status).toBe(404);
      expect(text).toBe(replies[0]?.text);
    }
    expect(JSON.parse(replies[0]?.text ?? '').error.metadata).toEqual({
      reason: 'not_found',
      retryable: false,
    });
  });
});

describe('GET /interns/{internId}/icon', () => {
  const icon = (rest = '', headers: string[] = [], bearer = world.ours.apiKey) =>
    world.call({ path: `/interns/${world.ours.internId}/icon${rest}`, headers, bearer });
  let sha256: string;
  beforeAll(async () => {
    ({ sha256 } = await setIcon(world.store, {
      internId: world.ours.internId,
      bytes: PNG,
    }));
  });

  it('sends the bytes with their type, to be revalidated', async () => {
    const { status, headers } = await icon();
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      etag: `"${sha256}"`,
      'cache-control': 'private, no-cache',
      'content-length': String(PNG.length),
    });
  });

  it('lets an icon requested by its hash be cached indefinitely', async () => {
    const { status, headers } = await icon(`?v=${sha256}`);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('private, max-age=31536000, immutable');
  });

  it('304: sends no body if the client has it', async () => {
    const { status, text, headers } = await icon('', ['If-None-Match', `W/"${sha256}"`]);
    expect([status, text, headers.etag]).toEqual([304, '', `"${sha256}"`]);
  });

  it('404: one response for an icon that is absent, hidden or outdated', async () => {
    const { id: other } = await createIntern(world.store, {
      workspaceId: world.ours.workspaceId,
      name: 'bare',
    });
    const replies = [
      await icon(`?v=${'0'.repeat(64)}`),
      await icon(`?v=${sha256}&v=${sha256}`),
      await icon('?v=%00'),
      await icon('', [], world.theirs.apiKey),
      await world.call({ path: `/interns/${other}/icon`, bearer: world.ours.apiKey }),
      await world.call({ path: `/interns/${other}/icon`, bearer: world.ours.internKey }),
      await world.call({ path: '/interns/%zz/icon', bearer: world.ours.apiKey }),
      await world.call({ path: '/interns/%00x/icon', bearer: world.ours.apiKey }),
      await world.call({ path: '/interns/x%00/icon', bearer: world.ours.apiKey }),
      await world.call({ path: '/interns/a%2Fb/icon', bearer: world.ours.apiKey }),
    ];
    for (const { status, text } of replies) {
      expect(status).toBe(404);
      expect(text).toBe(replies[0]?.text);
    }
  });
});

it('403: refuses intern operations on a regional hostname, before anything else', async () => {
  await using regional = await startManagementWorld({ environment: { REGIONAL_HOSTS: 'eu.ori.example' } });
  for (const path of ['/interns', '/interns/x/icon']) {
    const { status, json } = await regional.call({
      path,
      bearer: null,
      headers: ['Host', 'EU.ori.example:443'],
    });
    expect(status).toBe(403);
    expect(json.error).toEqual({ code: 403, message: PRESENTATIONS.regional_host_refused.message });
  }
  expect((await regional.call({ path: '/byok', headers: ['Host', 'eu.ori.example'] })).status).toBe(200);
});

it('403: only former members learn that access was revoked', async () => {
  const { subject, userId, workspaceId } = world.theirs;
  await removeMember(world.store, { userId, workspaceId });
  const bearer = await world.issuer.token({ subject, scope: 'interns' });
  expect((await list('', bearer)).status).toBe(403);
  await setProgramme(world.store, { workspaceId, inProgramme: false });
  expect((await list('', bearer)).status).toBe(404);
});
