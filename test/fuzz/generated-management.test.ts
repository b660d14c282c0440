import { randomUUID } from 'node:crypto';
import { createWorkspace } from '@ori/store/writes/workspaces';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { SAMPLE } from '../../services/management/src/fields.ts';
import { OPERATIONS } from '../../services/management/src/operations.ts';
import {
  createTestCredential,
  type ManagementWorld,
  startManagementWorld,
} from '../contract/management/world.ts';
import { inLanes } from '../env/in-lanes.ts';

/** More by hand: FUZZ_REQUESTS=2000 npx vitest run test/fuzz/generated-management.test.ts */
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 60);
const AT_ONCE = 20;

// biome-ignore lint/suspicious/noExplicitAny: the document is read as JSON
type Json = any;

let world: ManagementWorld;
let document: Json;
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  world = await startManagementWorld();
  document = (await world.call({ path: '/openapi.json', bearer: null })).json;
});
beforeEach(async () => {
  const place = { organizationId: world.ours.organizationId, name: 'Fuzzed', slug: `f-${randomUUID()}` };
  ids = {
    '/interns': world.ours.internId,
    '/byok': await createTestCredential(world.store, world.ours),
    '/keys': (await world.call({ method: 'POST', path: '/keys', json: { name: 'x' } })).json.data.hash,
    '/guardrails': (await world.call({ method: 'POST', path: '/guardrails', json: { name: 'x' } })).json.data
      .id,
    '/workspaces': (await createWorkspace(world.store, place)).id,
  };
});
afterAll(() => world[Symbol.asyncDispose]());

/** The text with ids of the examples replaced by those of our account. */
const ours = (text: string) =>
  text
    .replaceAll(SAMPLE.workspaceId, world.ours.workspaceId)
    .replaceAll(SAMPLE.userId, world.ours.userId)
    .replace(/\b[0-9a-f]{64}\b/g, world.ours.apiKeyHash);

const odd = fc.oneof(
  fc.constantFrom<Json>(null, true, 0, -1, 1e308, 2 ** 53, '', ' ', 'null', [], {}, [null], 'x'.repeat(5000)),
  fc.constantFrom('\0', '\ud800', "' or 1=1 --", '2026-02-30T00:00:00Z', '9999-12-31T23:59:59Z', '(a+)+$'),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 2, depthSize: 'small' }),
);

/** The value with some of its parts replaced, at any depth. */
function mutated(value: Json): fc.Arbitrary<Json> {
  const same = fc.constant(value);
  if (Array.isArray(value) && value.length > 0) {
    const items = fc.tuple(...value.map(mutated));
    return fc.oneof({ weight: 6, arbitrary: items }, { weight: 1, arbitrary: odd });
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.fromEntries(Object.entries(value).map(([name, field]) => [name, mutated(field)]));
    const some = fc.record(fields, { requiredKeys: [] });
    const whole = fc.record(fields);
    return fc.oneof(
      { weight: 6, arbitrary: whole },
      { weight: 3, arbitrary: some },
      { weight: 1, arbitrary: odd },
    );
  }
  return fc.oneof({ weight: 30, arbitrary: same }, { weight: 1, arbitrary: odd });
}

/** The value as JSON; rarely cut short, or other bytes. */
const sentAs = (value: fc.Arbitrary<Json>): fc.Arbitrary<string | Uint8Array> =>
  fc.oneof(
    { weight: 18, arbitrary: value.map((json) => JSON.stringify(json)) },
    {
      weight: 1,
      arbitrary: fc.tuple(value, fc.nat(60)).map(([json, end]) => JSON.stringify(json).slice(0, end)),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  );
const mediaType = fc.oneof(
  { weight: 18, arbitrary: fc.constantFrom('application/json', 'application/json; charset=utf-8') },
  { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/jsonp', '') },
);

/** As text; not by `String`, which throws for an object with a member `toString`. */
const asText = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));
const anyText = fc.oneof(odd.map(asText), fc.integer().map(String), fc.string({ maxLength: 30 }));
const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

it.each(OPERATIONS)(
  `${REQUESTS} generated requests of $operationId meet no failure, and refusals have the form of the contract`,
  {
    timeout: 600_000,
  },
  async ({ method, path, family }) => {
    const described = document.paths[path][method.toLowerCase()];
    const parameters: Json[] = described.parameters ?? [];
    const named = (place: string) => parameters.filter((one) => one.in === place);
    const known = ids[`/${path.split('/')[1]}`] ?? '';
    const segments = fc.oneof(
      { weight: 4, arbitrary: fc.constant(known) },
      { weight: 1, arbitrary: anyText },
    );
    const values = ({ schema = {} }: Json) =>
      fc.oneof(
        { weight: 1, arbitrary: anyText },
        {
          weight: 8,
          arbitrary: fc.constantFrom(
            ...[schema.example, schema.default, ...(schema.enum ?? []), 1]
              .filter((value) => value !== undefined)
              .map((value) => ours(String(value))),
          ),
        },
      );
    const valuesOf = (place: string) =>
      fc.record(Object.fromEntries(named(place).map((one) => [one.name, values(one)])), { requiredKeys: [] });
    const content = described.requestBody?.content['application/json'];
    const example = content && JSON.parse(ours(JSON.stringify(content.example)));
    const requests = fc.record({
      segment: segments,
      query: valuesOf('query'),
      headers: valuesOf('header'),
      body: example === undefined ? fc.constant(undefined) : sentAs(mutated(example)),
      type: mediaType,
      verb: fc.oneof(
        { weight: 29, arbitrary: fc.constant(method) },
        { weight: 1, arbitrary: fc.constantFrom('PUT', 'OPTIONS', 'TRACE') },
      ),
    });
    const seed = Math.trunc(Math.random() * 2 ** 31);
    const samples = fc.sample(requests, { numRuns: REQUESTS, seed });
    const isOfKeys = family === 'Interns' || path === '/key';
    const statuses: Record<number, number> = {};
    await inLanes(samples.length, AT_ONCE, async (n) => {
      const { segment, query, headers, body, type, verb } = samples[n] as (typeof samples)[number];
      const target = path.replace(/\{\w+\}/, encoded(segment) || 'x');
      const search = Object.entries(query).map(([name, value]) => `${name}=${encoded(value as string)}`);
      const sendable = Object.entries(headers).filter(([, value]) => /^[\x21-\x7e]+$/.test(value as string));
      const reply = await world.call({
        method: verb,
        path: target + (search.length > 0 ? `?${search.join('&')}` : ''),
        bearer: isOfKeys ? world.ours.apiKey : world.ours.managementKey,
        headers: [...(sendable.flat() as string[]), ...(type === '' ? [] : ['Content-Type', type])],
        ...(body !== undefined && { body }),
      });
      statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
      const where = `seed ${seed}: ${verb} ${target} ${body}: ${reply.text.slice(0, 200)}`;
      expect(reply.status, where).toBeLessThan(500);
      if (reply.status < 400) return;
      expect(reply.headers['content-type'], where).toBe('application/json');
      expect(Object.keys(reply.json), where).toEqual(['error']);
      expect(reply.json.error.code, where).toBe(reply.status);
    });
    if (REQUESTS > 60) console.log(method, path, statuses);
  },
);
