import { randomUUID } from 'node:crypto';
import { createApiKey } from '@ori/store/admin';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createHttpClient, type Reply } from '../../env/http-client.ts';
import { inLanes } from '../../env/in-lanes.ts';
import { startTcpProxy } from '../../env/tcp-proxy.ts';
import { startManagementWorld } from './world.ts';

/** More by hand: STORM_REQUESTS=10000 npx vitest run test/contract/management/storm.test.ts */
const REQUESTS = Number(process.env['STORM_REQUESTS'] ?? 600);
const CLIENTS = 40;
/** The proxy drops every connection after so many answers. */
const ANSWERS_PER_CUT = 100;
const SHARED = 3;

it(`${REQUESTS} requests through a proxy that cuts answers double no create, lose no update and meet no deadlock`, {
  timeout: 900_000,
}, async () => {
  await using world = await startManagementWorld({
    environment: { GUARDRAIL_BYTES_PER_ACCOUNT_MAX: '100000000' },
  });
  const proxy = await startTcpProxy(Number(new URL(world.baseUrl).port));
  await using _proxy = proxy;
  using http = createHttpClient(`http://127.0.0.1:${proxy.port}`, { connectionsMax: CLIENTS });
  const statuses = new Map<number | 'cut', number>();
  let sent = 0;

  /** One request; undefined if its answer was cut. */
  async function send(method: string, path: string, json?: object, more: readonly string[] = []) {
    sent += 1;
    if (sent % ANSWERS_PER_CUT === 0) proxy.cut();
    const headers = ['Authorization', `Bearer ${world.ours.managementKey}`, ...more];
    if (json !== undefined) headers.push('Content-Type', 'application/json');
    const ask = { method, path: `/v1${path}`, headers, ...(json && { body: JSON.stringify(json) }) };
    const reply: Reply | undefined = await http.ask(ask).catch(() => undefined);
    const status = reply?.status ?? 'cut';
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    return reply;
  }
  const isTemporary = (reply: Reply | undefined) =>
    reply === undefined || [409, 429, 503].includes(reply.status);
  /** Repeats a POST with its key until it is answered for good. */
  async function post(path: string, json: object): Promise<Reply> {
    const key = ['Idempotency-Key', randomUUID()];
    for (;;) {
      const reply = await send('POST', path, json, key);
      if (!isTemporary(reply)) return reply as Reply;
    }
  }

  const shared = await Promise.all(
    Array.from({ length: SHARED }, async (_, n) => {
      const { text } = await post('/guardrails', { name: `shared ${n}`, allowed_models: ['first'] });
      return `/guardrails/${JSON.parse(text).data.id}`;
    }),
  );
  const { workspaceId } = world.ours;
  const hashes: string[] = [];
  for (let n = 0; n < 20; n += 1) {
    hashes.push((await createApiKey(world.store, { kind: 'api', name: `k${n}`, workspaceId })).hash);
  }

  const names: string[] = [];
  const appended: string[][] = shared.map(() => []);
  async function append(n: number): Promise<void> {
    const which = n % SHARED;
    const path = shared[which] ?? '';
    const model = `model-${n}`;
    for (;;) {
      const read = await send('GET', path);
      if (isTemporary(read)) continue;
      const { allowed_models: models } = JSON.parse(read?.text ?? '').data;
      // The answer to the change may have been cut.
      if (models.includes(model)) break;
      const change = { allowed_models: [...models, model] };
      const reply = await send('PATCH', path, change, ['If-Match', read?.headers.etag ?? '']);
      if (reply?.status === 200) break;
      expect([undefined, 409, 412, 429, 503]).toContain(reply?.status);
    }
    appended[which]?.push(model);
  }

  await inLanes(Math.ceil(REQUESTS / 2), CLIENTS, async (n) => {
    if (sent >= REQUESTS) return;
    const targets = { key_hashes: hashes.filter((_, index) => (index * 7 + n) % 3 === 0) };
    const place = `${shared[n % SHARED]}/assignments/keys`;
    if (n % 4 === 0) expect((await post('/guardrails', { name: `created ${n}` })).status).toBe(201);
    else if (n % 4 === 1) await append(n);
    else if (n % 4 === 2) expect((await post(place, targets)).status).toBe(200);
    else expect((await post(`${place}/remove`, targets)).status).toBe(200);
    if (n % 4 === 0) names.push(`created ${n}`);
  });
  console.log(`${sent} requests:`, Object.fromEntries(statuses));

  expect(statuses.get(500)).toBeUndefined();
  expect(statuses.get('cut')).toBeGreaterThan(0);
  const { rows: created } = await sql<{ name: string }>`
    select name from guardrails where name like 'created %' order by name`.execute(world.store.kysely);
  expect(created.map(({ name }) => name)).toEqual(names.sort());
  for (const [which, path] of shared.entries()) {
    const { json } = await world.call({ path });
    expect([...json.data.allowed_models].sort()).toEqual(['first', ...(appended[which] ?? [])].sort());
  }
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks::integer as deadlocks from pg_stat_database where datname = current_database()`.execute(
    world.store.kysely,
  );
  expect(rows[0]?.deadlocks).toBe(0);
});
