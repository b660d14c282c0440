import { open } from '@ori/sealing/open';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createTestCredential, envelope, useManagementWorld } from './world.ts';

// What a script cannot say: see scripts/byok.http.

const world = await useManagementWorld();
const key = 'sk-proj-0123456789abcdefghijklmn';
const update = (id: string, json: unknown) => world.call({ method: 'PATCH', path: `/byok/${id}`, json });

/** The key that a row has, sealed to it. */
async function opened(row: string): Promise<string> {
  const { organizationId } = world.ours;
  const { rows } = await sql<{ sealed_key: string }>`
    select sealed_key from byok_credentials where id = ${row}`.execute(world.store.kysely);
  const context = { table: 'byok_credentials', column: 'sealed_key', row, organizationId };
  return Buffer.from(await open(world.ring, rows[0]?.sealed_key ?? '', context)).toString();
}

it('201: stores it sealed to its row, never shows the key, and deletes it', async () => {
  const wanted = { provider: 'openai', key, name: 'new', allowed_models: ['a/b'] };
  const { status, json, text } = await world.call({ method: 'POST', path: '/byok', json: wanted });
  expect(status).toBe(201);
  const { id } = json.data;
  const { workspaceId: workspace_id } = world.ours;
  expect(json.data).toMatchObject({ name: 'new', label: 'sk-...klmn', workspace_id, disabled: false });
  expect(text).not.toContain(key);
  expect(await opened(id)).toBe(key);
  expect((await world.call({ path: `/byok/${id}` })).json).toEqual(json);
  const remove = () => world.call({ method: 'DELETE', path: `/byok/${id}` });
  expect((await remove()).json).toEqual({ deleted: true });
  expect((await remove()).json).toEqual(envelope(404));
  expect((await world.call({ path: `/byok/${id}` })).json).toEqual(envelope(404));
});

it('rotates the key in place: sealed to its row, with a new label, never shown', async () => {
  const id = await createTestCredential(world.store, world.ours);
  const { text, json } = await update(id, { key });
  expect(json.data.label).toBe('sk-...klmn');
  expect(text).not.toContain(key);
  expect(await opened(id)).toBe(key);
});

it('400: refuses a body that is not UTF-8', async () => {
  const path = `/byok/${await createTestCredential(world.store, world.ours)}`;
  const headers = ['Content-Type', 'application/json'];
  const body = Buffer.from([0x7b, 0xff, 0x7d]);
  expect((await world.call({ method: 'PATCH', path, headers, body })).json).toEqual(envelope(400));
});

it('409: refuses a change while another is in progress, as retryable', async () => {
  const id = await createTestCredential(world.store, world.ours);
  const disable = (headers: string[] = []) =>
    world.call({ method: 'PATCH', path: `/byok/${id}`, json: { disabled: true }, headers });
  await world.store.kysely.transaction().execute(async (trx) => {
    await sql`select 1 from byok_credentials where id = ${id} for update`.execute(trx);
    for (const headers of [[], ['If-Match', '*']])
      expect((await disable(headers)).json).toEqual(envelope(409));
  });
  expect((await disable()).status).toBe(200);
});
