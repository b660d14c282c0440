import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestCredential, type ManagementWorld, startManagementWorld } from './world.ts';

let world: ManagementWorld;
beforeAll(async () => {
  world = await startManagementWorld({ environment: { DEADLINE_MS: '400' } });
});
afterAll(() => world[Symbol.asyncDispose]());

it.each([
  '/',
  '/intern',
  '/Interns',
  '/interns/',
  '//interns',
  '/guardrails/assignments',
  '/byok/',
  '/unknown?x=1',
])('404: answers %s with the envelope', async (path) => {
  const { status, json, headers } = await world.call({ path });
  expect(status).toBe(404);
  expect(json).toEqual({ error: { code: 404, message: 'Not found.' } });
  expect(headers['x-request-id']).toBeDefined();
});

it('405: says which methods a path takes', async () => {
  const { status, headers, json } = await world.call({ method: 'DELETE', path: '/guardrails' });
  expect(status).toBe(405);
  expect(headers.allow).toBe('GET, HEAD, POST');
  expect(json.error.metadata).toBeUndefined();
});

it('accepts the headers by which clients name their application', async () => {
  const headers = ['HTTP-Referer', 'https://app.example', 'X-Ori-Title', 'app', 'X-Ori-Categories', 'cli'];
  expect((await world.call({ path: '/guardrails', headers })).status).toBe(200);
});

it('answers at the deadline: 408 for interns, 500 for the rest, and nothing is changed', async () => {
  const id = await createTestCredential(world.store, world.ours);
  await world.store.kysely.transaction().execute(async (trx) => {
    await sql`lock table interns, guardrails in access exclusive mode`.execute(trx);
    const interns = await world.call({ path: '/interns', bearer: world.ours.apiKey });
    expect(interns.status).toBe(408);
    expect(interns.json.error).toEqual({
      code: 408,
      message: 'The 400 ms deadline of this route was exceeded.',
      metadata: { reason: 'timeout', retryable: true },
    });
    const guardrails = await world.call({ path: '/guardrails' });
    expect(guardrails.status).toBe(500);
    expect(guardrails.json.error.metadata).toBeUndefined();
  });
  expect((await world.call({ path: '/byok' })).json.data[0].id).toBe(id);
});

it('500: answers without its database, and again as soon as it is back', async () => {
  const failing = { ...world.store, kysely: world.store.kysely.withSchema('gone') };
  await using broken = await startManagementWorld({ wrap: () => failing });
  const interns = await broken.call({ path: '/interns', bearer: broken.ours.apiKey });
  expect(interns).toMatchObject({
    status: 500,
    json: { error: { metadata: { reason: 'internal_error', retryable: true } } },
  });
  const byok = await broken.call({ path: '/byok' });
  expect(byok).toMatchObject({ status: 500, json: { error: { code: 500 } } });
  expect(byok.json.error.metadata).toBeUndefined();
});

it('serves its metrics and its readiness on the ops port alone', async () => {
  await world.call({ path: '/guardrails' });
  const metrics = await (await fetch(`${world.opsUrl}/metrics`)).text();
  expect(metrics).toMatch(/route="\/v1\/guardrails"/);
  const ready = await fetch(`${world.opsUrl}/readyz`);
  expect(await ready.json()).toEqual({ status: 'ready', checks: { postgresql: 'ok', issuer: 'ok' } });
  expect((await world.call({ path: '/metrics' })).status).toBe(404);
});
