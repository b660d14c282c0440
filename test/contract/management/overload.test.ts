import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createHttpClient } from '../../env/http-client.ts';
import { waitingForLocks } from '../../env/lock-waits.ts';
import { createTenant, type ManagementWorld, startManagementWorld } from './world.ts';

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

describe('evaluations that wait for the thread for patterns', () => {
  const evaluationOf = async (world: ManagementWorld, bearer: string) => {
    const created = await world.call({ method: 'POST', path: '/guardrails', json: { name: 'x' }, bearer });
    const path = `/guardrails/${created.json.data.id}/evaluate`;
    return { method: 'POST', path, json: { text: 'x' }, bearer };
  };

  it('do not take the turns of other requests', async () => {
    await using world = await startManagementWorld({ config: { databasePoolMax: 2 } });
    const quiet = await createTenant(world.store, world.issuer.url);
    const accounts = [world.ours, world.theirs];
    const evaluations = await Promise.all(accounts.map((one) => evaluationOf(world, one.managementKey)));
    const ended: string[] = [];
    let calls: Promise<unknown> = Promise.resolve();
    await world.store.kysely.transaction().execute(async (trx) => {
      await sql`lock table guardrails in access exclusive mode`.execute(trx);
      calls = Promise.all(evaluations.map((one) => world.call(one).then(() => ended.push('evaluation'))));
      await expect.poll(() => waitingForLocks(world.store)).toBeGreaterThan(0);
      await world.call({ path: '/workspaces', bearer: quiet.managementKey });
      ended.push('other request');
    });
    await calls;
    expect(ended[0]).toBe('other request');
  });

  it('of one account do not hold up those of another', async () => {
    await using world = await startManagementWorld({ config: { databasePoolMax: 6 } });
    const ours = await evaluationOf(world, world.ours.managementKey);
    const theirs = await evaluationOf(world, world.theirs.managementKey);
    let calls: ReturnType<typeof world.call>[] = [];
    await world.store.kysely.transaction().execute(async (trx) => {
      await sql`lock table guardrails in access exclusive mode`.execute(trx);
      calls = Array.from({ length: 4 }, () => world.call(ours));
      await expect.poll(() => waitingForLocks(world.store)).toBe(1);
      calls.push(world.call(theirs));
      await expect.poll(() => waitingForLocks(world.store)).toBe(2);
      // Fails the two that have come as far as the table.
      await sql`
        select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(world.store.kysely);
    });
    const isAnswered = (await Promise.all(calls)).map(({ status }) => status === 200);
    expect(isAnswered.toSorted()).toEqual([false, false, true, true, true]);
    expect(isAnswered.at(-1)).toBe(false);
  });
});
