import { expect, it } from 'vitest';
import { useManagementWorld } from './world.ts';

// What a script cannot say: see scripts/guardrails.http.

const world = await useManagementWorld();
const create = (json: unknown) => world.call({ method: 'POST', path: '/guardrails', json });

it('as many requests with patterns as an account may have in progress wait for each other, from the start', async () => {
  const json = {
    name: 'policy',
    content_filters: [{ pattern: 'PRJ-[0-9]{4}', action: 'block', label: 'x' }],
  };
  const all = Array.from({ length: 64 }, () => create(json));
  expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([201]));
});

it('the size of a guardrail is limited: 400 beyond it, and nothing is stored', async () => {
  const names = (count: number) => ({
    ignored_models: Array.from({ length: count }, () => 'm'.repeat(200)),
  });
  const { json: made } = await create({ name: 'policy', ...names(300) });
  const path = `/guardrails/${made.data.id}`;
  const message = 'guardrail: its lists and filters have more than 65536 bytes as JSON.';
  const refused = { error: { code: 400, message } };
  expect((await world.call({ method: 'PATCH', path, json: names(330) })).json).toEqual(refused);
  expect((await create({ name: 'policy', ...names(330) })).json).toEqual(refused);
  expect((await world.call({ path })).json.data).toMatchObject(names(300));
});
