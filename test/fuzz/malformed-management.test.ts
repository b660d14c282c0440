import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createTestCredential,
  type ManagementWorld,
  startManagementWorld,
} from '../contract/management/world.ts';

const REQUESTS = 6000;
const AT_ONCE = 20;

let world: ManagementWorld;
let credential: string;
let guardrail: string;

beforeAll(async () => {
  world = await startManagementWorld();
  credential = await createTestCredential(world.store, world.ours);
  const created = await world.call({ method: 'POST', path: '/guardrails', json: { name: 'untouched' } });
  guardrail = created.json.data.id;
});
afterAll(() => world[Symbol.asyncDispose]());

const MEMBERS = [
  'key',
  'name',
  'disabled',
  'is_fallback',
  'allowed_models',
  'allowed_api_key_hashes',
  'declared_region',
  'description',
  'limit_usd',
  'content_filters',
  'content_filter_builtins',
  'key_hashes',
  'member_user_ids',
  'workspace_id',
  '__proto__',
  'constructor',
];

/** A JSON value of a type that is wrong almost everywhere, under member names that operations use. */
const anyJson = fc.jsonValue({ maxDepth: 3, depthSize: 'small' });
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('\0', '\ud800', "' or 1=1 --", '../..', '%00', 'x'.repeat(5000)),
);
const knownMembers = fc.dictionary(fc.constantFrom(...MEMBERS), fc.oneof(anyJson, anyText), { maxKeys: 5 });
const body = fc.oneof(
  knownMembers.map((value) => JSON.stringify(value)),
  anyJson.map((value) => JSON.stringify(value)),
  fc.tuple(knownMembers, fc.nat(60)).map(([value, cut]) => JSON.stringify(value).slice(0, cut)),
  fc.string({ maxLength: 60 }),
  fc.uint8Array({ maxLength: 60 }),
);

const segment = anyText.map(encodeURIComponentLoosely);
const query = fc
  .dictionary(
    fc.constantFrom('limit', 'offset', 'status', 'starting_after', 'workspace_id', 'provider', 'v', 'x'),
    fc.oneof(anyText, fc.integer().map(String), fc.double().map(String)),
    { maxKeys: 4 },
  )
  .map((pairs) =>
    Object.entries(pairs)
      .map(([name, value]) => `${name}=${encodeURIComponentLoosely(value)}`)
      .join('&'),
  );

/** A path with one of its methods, so that most requests reach the validation of parameters or body. */
const operation = fc.oneof(
  { weight: 3, arbitrary: listing() },
  {
    weight: 3,
    arbitrary: fc.constantFrom(['PATCH', 'CREDENTIAL'], ['PATCH', 'GUARDRAIL'], ['POST', '/guardrails']),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ['POST', 'GUARDRAIL/assignments/keys'],
      ['POST', 'GUARDRAIL/assignments/members/remove'],
    ),
  },
  { weight: 1, arbitrary: segment.map((id) => ['GET', `/interns/${id}/icon`]) },
  { weight: 1, arbitrary: segment.map((id) => ['PATCH', `/byok/${id}`]) },
  { weight: 1, arbitrary: segment.map((id) => ['DELETE', `/guardrails/${id}`]) },
  { weight: 1, arbitrary: segment.map((path) => ['GET', `/${path}`]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(['PUT', 'CREDENTIAL'], ['OPTIONS', '/interns'], ['TRACE', '/byok']),
  },
);

function listing(): fc.Arbitrary<string[]> {
  const paths = fc.constantFrom('/interns', '/byok', '/guardrails', '/guardrails/assignments/keys');
  return fc.tuple(paths, query).map(([path, rest]) => ['GET', `${path}?${rest}`]);
}

const request = fc.record({
  operation,
  body,
  type: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('application/json', 'application/json; charset=utf-8') },
    { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/jsonp', '') },
  ),
  bearer: fc.constantFrom('management', 'management', 'api'),
});

type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

test(`${REQUESTS} malformed management requests get the error envelope or a success, and break nothing`, async () => {
  const statuses: Record<number, number> = {};
  const check = fc.asyncProperty(fc.array(request, { minLength: AT_ONCE, maxLength: AT_ONCE }), (batch) =>
    Promise.all(batch.map(send)).then(() => undefined),
  );
  await fc.assert(check, { numRuns: REQUESTS / AT_ONCE, endOnFailure: true });
  console.log('malformed management requests:', statuses);
  expect((await world.call({ path: `/guardrails/${guardrail}` })).status).toBeLessThan(500);

  async function send({
    operation: [method = '', template = ''],
    body: sent,
    type,
    bearer,
  }: Request): Promise<void> {
    const path = template
      .replace('CREDENTIAL', `/byok/${credential}`)
      .replace('GUARDRAIL', `/guardrails/${guardrail}`);
    const ofInterns = path.startsWith('/interns');
    const reply = await world.call({
      method,
      path,
      body: sent,
      headers: type === '' ? [] : ['Content-Type', type],
      bearer: (bearer === 'management') !== ofInterns ? world.ours.managementKey : world.ours.apiKey,
    });
    statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
    const where = `${method} ${path}: ${reply.status} ${reply.text.slice(0, 200)}`;
    expect(reply.status, where).toBeLessThan(500);
    if (reply.status < 400) return;
    expect(reply.headers['content-type'], where).toBe('application/json');
    expect(Object.keys(reply.json), where).toEqual(['error']);
    expect(reply.json.error.code, where).toBe(reply.status);
  }
}, 300_000);

/** Percent-encodes the characters that a request-target cannot contain, and some others. */
function encodeURIComponentLoosely(text: string): string {
  return Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[^!$&-;=@-~]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
