import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readerOf } from '../../../services/management/src/http/execute.ts';
import { OPERATIONS } from '../../../services/management/src/operations.ts';
import { waitingForLocks } from '../../env/lock-waits.ts';
import { useManagementWorld } from './world.ts';

// What a script cannot say: see scripts/conditions.http.

const world = await useManagementWorld({ config: { deadlineMs: 20000 } });

const create = async (json: object = { name: 'policy' }) => {
  const reply = await world.call({ method: 'POST', path: '/guardrails', json });
  return { path: `/guardrails/${reply.json.data.id}`, tag: reply.headers.etag ?? '' };
};
const ifMatch = (tag: string) => ({ headers: ['If-Match', tag] });

describe('ETag and If-Match', () => {
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
  const post = (key: string, json: object) =>
    world.call({ method: 'POST', path: '/guardrails', json, headers: ['Idempotency-Key', key] });
  const count = async (name: string) => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::integer as n from guardrails where name = ${name}`.execute(world.store.kysely);
    return rows[0]?.n;
  };

  it('executes one of many at once; the others are refused or get its answer', async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const replies = await Promise.all(Array.from({ length: 20 }, () => post(key, { name })));
    const created = replies.filter(({ status }) => status === 201);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    expect(replies.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(await count(name)).toBe(1);
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
});
