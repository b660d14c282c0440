import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createHttpClient } from '../../env/http-client.ts';
import { startManagementWorld } from './world.ts';

function notLate<T extends { status: number }>(reply: T): T {
  if (reply.status === 503) throw new Error('late');
  return reply;
}

/** More than one account may have in progress and waiting. */
const AT_ONCE = 80;

it.each([
  ['429, and 500 where the table is closed', 'POST', '/guardrails', 429],
  ['500 where the table is closed', 'PATCH', '/byok/00000000-0000-4000-8000-000000000000', 500],
])('answers too many requests of one caller with %s', async (_what, method, path, status) => {
  await using world = await startManagementWorld();
  using http = createHttpClient(world.baseUrl, { connectionsMax: AT_ONCE });
  const released = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const blocker = world.store.kysely.transaction().execute(async (trx) => {
    await sql`lock table workspaces, api_keys, byok_credentials in exclusive mode`.execute(trx);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const ask = { method, path: `/v1${path}`, body: JSON.stringify({ name: 'x' }) };
  const headers = ['Authorization', `Bearer ${world.ours.managementKey}`, 'Content-Type', 'application/json'];
  const replies = Array.from({ length: AT_ONCE }, () => http.ask({ ...ask, headers }));
  // On a slow machine, the first have waited too long for the table before the last have arrived.
  const refused = await Promise.any(replies.map(async (reply) => notLate(await reply)));
  released.resolve();
  await blocker;
  const others = await Promise.all(replies);
  expect(refused).toMatchObject({ status, headers: { 'retry-after': '1' } });
  expect(new Set(others.map((reply) => reply.status))).toContain(method === 'POST' ? 201 : 404);
});
