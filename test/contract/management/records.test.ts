import fc from 'fast-check';
import { expect, it } from 'vitest';
import { envelope, useManagementWorld } from './world.ts';

const world = await useManagementWorld();

// biome-ignore lint/suspicious/noExplicitAny: the records are read as JSON
type Json = any;

const send = (method: string, path: string, json?: unknown) => world.call({ method, path, json });
const made = async (path: string, json: unknown) => {
  const reply = await send('POST', path, json);
  expect(reply.status).toBe(201);
  return reply.json.data;
};
const flag = fc.constantFrom(undefined, true, false);
const clearable = fc.constantFrom(undefined, null, true, false);
const models = fc.constantFrom(undefined, null, ['a/b'], ['a/b', 'c/d']);
const key = 'sk-proj-0123456789abcdefghijklmn';

/** What can be created of each kind, and how its records are addressed. */
const KINDS: Readonly<Record<string, { body: fc.Arbitrary<object>; id: string }>> = {
  guardrails: {
    id: 'id',
    body: fc.record({
      name: fc.constantFrom('x', 'Support team', '工房'),
      description: fc.constantFrom(undefined, null, ''),
      allowed_models: models,
      ignored_providers: fc.constantFrom(undefined, null, [], ['deepseek']),
      enforce_zdr: clearable,
      enforce_zdr_google: clearable,
      limit_usd: fc.constantFrom(undefined, null, 0, 0.1, 50),
      reset_interval: fc.constantFrom(undefined, null, 'daily'),
      include_byok_in_budgets: flag,
      content_filter_builtins: fc.constantFrom(undefined, null, [], [{ slug: 'email', action: 'redact' }]),
      content_filters: fc.constantFrom(undefined, null, [{ pattern: 'a+', action: 'block' }]),
    }),
  },
  byok: {
    id: 'id',
    body: fc.record({
      key: fc.constantFrom(key, JSON.stringify({ api_key: key, region: 'us' })),
      provider: fc.constant('openai'),
      workspace_id: fc.constantFrom(undefined, null),
      name: fc.constantFrom(undefined, null, '', 'Production'),
      disabled: flag,
      is_byok_only: flag,
      allowed_models: fc.constantFrom(undefined, null, [], ['a/b']),
      allowed_user_ids: fc.constantFrom(undefined, null, ['user_unknown']),
      declared_region: fc.constantFrom(undefined, null),
      declared_zdr: clearable,
    }),
  },
  keys: {
    id: 'hash',
    body: fc.record({
      name: fc.constantFrom('x', ' y '),
      expires_at: fc.constantFrom(undefined, null, '2099-01-01T00:00:00.123Z'),
      limit: fc.constantFrom(undefined, null),
    }),
  },
  workspaces: {
    id: 'id',
    body: fc.record({
      name: fc.uuid(),
      description: fc.constantFrom(undefined, null, '', 'Where the engine is built.'),
    }),
  },
};

const withoutTime = ({ updated_at: _, ...record }: Json) => record;

/** Sends a record back as it was read; it has to stay what it was. */
async function expectToComeBack(path: string): Promise<void> {
  const { json: read } = await send('GET', path);
  const back = await send('PATCH', path, read.data);
  expect([back.status, back.text]).toEqual([200, expect.any(String)]);
  expect(withoutTime(back.json.data)).toEqual(withoutTime(read.data));
  expect(withoutTime((await send('GET', path)).json.data)).toEqual(withoutTime(read.data));
}

it.each(Object.entries(KINDS))(
  'what GET returned of %s, PATCH takes back unchanged',
  async (kind, { body, id }) => {
    for (const wanted of fc.sample(body, 6)) {
      const record = await made(`/${kind}`, wanted);
      await expectToComeBack(`/${kind}/${record[id]}`);
    }
  },
);

it.each(Object.entries(KINDS))(
  '400: PATCH does not change what is read-only of %s',
  async (kind, { body, id }) => {
    const [wanted] = fc.sample(body, 1);
    const record = await made(`/${kind}`, wanted);
    const path = `/${kind}/${record[id]}`;
    for (const change of [{ created_at: '2020-01-01T00:00:00.000Z' }, { [id]: 'other' }, { unknown: null }]) {
      const reply = await send('PATCH', path, { ...record, ...change });
      expect(reply.json).toEqual(envelope(400));
      expect(reply.json.error.message).toContain(Object.keys(change)[0]);
    }
    const { json } = await send('GET', path);
    expect(json.data).toEqual(record);
  },
);

it('a credential comes back when a key that it names was deleted', async () => {
  const { hash } = await made('/keys', { name: 'short-lived' });
  const { id } = await made('/byok', { provider: 'openai', key, allowed_api_key_hashes: [hash] });
  await send('DELETE', `/keys/${hash}`);
  await expectToComeBack(`/byok/${id}`);
  const other = { allowed_api_key_hashes: [hash, 'f'.repeat(64)] };
  expect((await send('PATCH', `/byok/${id}`, other)).json).toEqual(envelope(400));
  await send('PATCH', `/byok/${id}`, { allowed_api_key_hashes: null });
  const again = await send('PATCH', `/byok/${id}`, { allowed_api_key_hashes: [hash] });
  expect(again.json).toEqual(envelope(400));
});

it('a builtin filter comes back with its label, and with no other', async () => {
  const { id, content_filter_builtins: builtins } = await made('/guardrails', {
    name: 'labelled',
    content_filter_builtins: [{ slug: 'email', action: 'redact' }],
  });
  expect(builtins).toEqual([{ slug: 'email', action: 'redact', label: '[EMAIL]' }]);
  const change = (label: string) =>
    send('PATCH', `/guardrails/${id}`, { content_filter_builtins: [{ ...builtins[0], label }] });
  expect((await change('[EMAIL]')).status).toBe(200);
  expect((await change('[MAIL]')).json.error.message).toContain('label');
});
