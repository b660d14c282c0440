import { randomUUID } from 'node:crypto';
import { createApiKey } from '@ori/store/writes/api-keys';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readerOf } from '../../../services/management/src/http/execute.ts';
import { OPERATIONS } from '../../../services/management/src/operations.ts';
import { waitingForLocks } from '../../env/lock-waits.ts';
import { useManagementWorld } from './world.ts';

const world = await useManagementWorld({ config: { deadlineMs: 20000 } });

const create = async (json: object = { name: 'policy' }) => {
  const reply = await world.call({ method: 'POST', path: '/guardrails', json });
  return { path: `/guardrails/${reply.json.data.id}`, tag: reply.headers.etag ?? '' };
};
const ifMatch = (tag: string) => ({ headers: ['If-Match', tag] });

describe('ETag and If-Match', () => {
  it('tags a record alike when it is created, read and changed, and otherwise after a change', async () => {
    const { path, tag } = await create();
    expect(tag).toMatch(/^"[\w-]{43}"$/);
    expect((await world.call({ path })).headers.etag).toBe(tag);
    const changed = await world.call({ method: 'PATCH', path, json: { limit_usd: 5 } });
    expect(changed.headers.etag).not.toBe(tag);
    expect((await world.call({ path })).headers.etag).toBe(changed.headers.etag);
    const known = await world.call({ path, headers: ['If-None-Match', changed.headers.etag ?? ''] });
    expect([known.status, known.text]).toEqual([304, '']);
  });

  it('412: changes and deletes only the record that If-Match has', async () => {
    const { path, tag } = await create();
    for (const given of ['"x"', `W/${tag}`, 'x']) {
      for (const call of [{ method: 'PATCH', json: { limit_usd: 5 } }, { method: 'DELETE' }]) {
        expect((await world.call({ ...call, path, ...ifMatch(given) })).status).toBe(412);
      }
    }
    expect((await world.call({ path })).headers.etag).toBe(tag);
    for (const given of [`"x", ${tag}`, '*']) {
      expect((await world.call({ method: 'PATCH', path, json: {}, ...ifMatch(given) })).status).toBe(200);
    }
    expect((await world.call({ method: 'DELETE', path, ...ifMatch(tag) })).status).toBe(200);
    expect((await world.call({ method: 'DELETE', path, ...ifMatch('*') })).status).toBe(404);
  });

  it('waits for a change in progress, and compares with what that leaves', async () => {
    const { path, tag } = await create();
    const id = path.split('/').at(-1);
    let reply: Promise<{ status: number }> | undefined;
    await world.store.kysely.transaction().execute(async (trx) => {
      await sql`update guardrails set name = 'changed' where id = ${id}`.execute(trx);
      reply = world.call({ method: 'PATCH', path, json: { limit_usd: 5 }, ...ifMatch(tag) });
      await expect.poll(() => waitingForLocks(world.store)).toBeGreaterThan(0);
    });
    expect((await reply)?.status).toBe(412);
    expect((await world.call({ path })).json.data).toMatchObject({ name: 'changed', limit_usd: null });
  });

  it('judges patterns before it locks the record or takes a connection', async () => {
    const { path, tag } = await create();
    const id = path.split('/').at(-1);
    const json = { content_filters: [{ pattern: '(', action: 'block' }] };
    await world.store.kysely.transaction().execute(async (trx) => {
      await sql`select from guardrails where id = ${id} for update`.execute(trx);
      expect((await world.call({ method: 'PATCH', path, json, ...ifMatch(tag) })).status).toBe(400);
    });
  });

  it('has a record to compare with in every operation that changes or deletes one', () => {
    const conditional = OPERATIONS.filter(({ method }) => method === 'PATCH' || method === 'DELETE');
    const without = conditional.filter((operation) => readerOf(operation, OPERATIONS) === undefined);
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });
});

describe('Idempotency-Key', () => {
  const post = (key: string, json: object, path = '/guardrails') =>
    world.call({ method: 'POST', path, json, headers: ['Idempotency-Key', key] });
  const count = async (name: string) => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::integer as n from guardrails where name = ${name}`.execute(world.store.kysely);
    return rows[0]?.n;
  };

  it('gives the first answer again, and executes the request once', async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const first = await post(key, { name });
    const again = await post(key, { name });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(again.headers.etag).toBe(first.headers.etag);
    expect(await count(name)).toBe(1);
  });

  it('422: refuses other content, also on another path', async () => {
    const key = randomUUID();
    const { json } = await post(key, { name: 'one' });
    expect((await post(key, { name: 'two' })).status).toBe(422);
    const path = `/guardrails/${json.data.id}/assignments/keys`;
    expect((await post(key, { key_hashes: [world.ours.apiKeyHash] }, path)).status).toBe(422);
  });

  it('gives the secret of a new API key only to the caller who made it', async () => {
    const { organizationId } = world.ours;
    const { key: second } = await createApiKey(world.store, {
      organizationId,
      kind: 'management',
      name: 'second',
    });
    const create = (bearer: string, key: string, name: string) =>
      world.call({
        method: 'POST',
        path: '/keys',
        json: { name },
        bearer,
        headers: ['Idempotency-Key', key],
      });
    const [key, name] = [randomUUID(), randomUUID()];
    const first = await create(world.ours.managementKey, key, name);
    const other = await create(second, key, name);
    expect([first.status, other.status]).toEqual([201, 201]);
    expect(other.json.key).not.toBe(first.json.key);
    expect((await create(world.ours.managementKey, key, name)).text).toBe(first.text);
  });

  it('keeps nothing of a refused request', async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    expect((await post(key, { name, workspace_id: 'ws_none' })).status).toBe(400);
    expect((await post(key, { name })).status).toBe(201);
  });

  it('executes one of many at once; the others are refused or get its answer', async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const replies = await Promise.all(Array.from({ length: 20 }, () => post(key, { name })));
    const created = replies.filter(({ status }) => status === 201);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    expect(replies.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(await count(name)).toBe(1);
  });

  it('is of one account, and of 24 hours', async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await post(key, { name });
    const theirs = await world.call({
      method: 'POST',
      path: '/guardrails',
      json: { name },
      bearer: world.theirs.managementKey,
      headers: ['Idempotency-Key', key],
    });
    expect(theirs.status).toBe(201);
    expect(await count(name)).toBe(2);
    const age = async (hours: string) =>
      await sql`update idempotency_keys set created_at = now() - ${hours}::interval`.execute(
        world.store.kysely,
      );
    await age('23 hours 55 minutes');
    expect((await post(key, { name: 'other' })).status).toBe(422);
    await age('24 hours');
    expect((await post(key, { name: 'other' })).status).toBe(201);
    const { rows } = await sql`select 1 from idempotency_keys
      where organization_id = ${world.ours.organizationId}`.execute(world.store.kysely);
    expect(rows).toHaveLength(1);
  });

  it('429: keeps at most 64 MiB for an account, of answers that are not expired', async () => {
    const { organizationId, managementKey } = world.theirs;
    await sql`
      insert into idempotency_keys (organization_id, key_hash, sealed_answer, created_at)
      select ${organizationId}, lpad(n::text, 64, '0'), repeat('x', case n when 0 then ${64 * 1024 * 1024}::int else 1 end),
        now() - n * interval '1 day'
      from generate_series(0, 100) n`.execute(world.store.kysely);
    const [key, name] = [randomUUID(), randomUUID()];
    const headers = ['Idempotency-Key', key];
    const create = () =>
      world.call({ method: 'POST', path: '/guardrails', json: { name }, bearer: managementKey, headers });
    expect((await create()).status).toBe(429);
    expect(await count(name)).toBe(0);
    await sql`
      update idempotency_keys set created_at = now() - interval '24 hours' where key_hash = ${'0'.repeat(64)}`.execute(
      world.store.kysely,
    );
    expect((await create()).status).toBe(201);
    await sql`delete from idempotency_keys where organization_id = ${organizationId}`.execute(
      world.store.kysely,
    );
  });

  it('stores the answer sealed, and only the hash of the key', async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await post(key, { name });
    const { rows } = await sql<{
      row: string;
    }>`select to_jsonb(i)::text as row from idempotency_keys i`.execute(world.store.kysely);
    for (const { row } of rows) expect(row.includes(key) || row.includes(name)).toBe(false);
  });

  it.each(['', 'x'.repeat(256), 'schlüssel'])('400: refuses the key %j', async (key) => {
    expect((await post(Buffer.from(key).toString('latin1'), { name: 'x' })).status).toBe(400);
  });
});

describe('JSON', () => {
  it.each([
    '{"name":"a","name":"b"}',
    '{"name":"a","content_filters":[{"pattern":"a","pattern":"b","action":"block"}]}',
  ])('400: refuses %s', async (body) => {
    const headers = ['Content-Type', 'application/json'];
    expect((await world.call({ method: 'POST', path: '/guardrails', headers, body })).status).toBe(400);
  });
});
