import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { BODY_SHA256, useSignerWorld, V1_BODY } from '../signer-world.ts';

const world = await useSignerWorld();
const hex = BODY_SHA256;
const route = (path: unknown, method: unknown = 'POST') =>
  JSON.stringify({ bodySha256: hex, route: { method, path } });

/** What the fuzzed test of readRequest does not generate, and something of what it does. */
const bodies: Record<string, string | Uint8Array> = {
  'an empty body': '',
  'no JSON': '{',
  null: 'null',
  'an array': `[${V1_BODY}]`,
  'an empty object': '{}',
  'a digest in capitals': JSON.stringify({ bodySha256: hex.toUpperCase() }),
  'a digest one digit short': JSON.stringify({ bodySha256: hex.slice(1) }),
  'a digest one digit long': JSON.stringify({ bodySha256: `${hex}0` }),
  'a digest with a line end': JSON.stringify({ bodySha256: `${hex}\n` }),
  'a digest that is not a string': JSON.stringify({ bodySha256: [hex] }),
  'an unknown member': JSON.stringify({ bodySha256: hex, user: 'mallory' }),
  'an unknown member of the route': JSON.stringify({
    bodySha256: hex,
    route: { method: 'POST', path: '/', query: '' },
  }),
  'a route that is null': JSON.stringify({ bodySha256: hex, route: null }),
  'a route without a path': JSON.stringify({ bodySha256: hex, route: { method: 'POST' } }),
  'a route without a method': JSON.stringify({ bodySha256: hex, route: { path: '/' } }),
  'a method that is not POST': route('/', 'GET'),
  'a method in lower case': route('/', 'post'),
  'a path that does not begin with /': route('api'),
  'an empty path': route(''),
  'a path of 2049 characters': route(`/${'x'.repeat(2048)}`),
  'a path with a query': route('/a?b'),
  'a path with a fragment': route('/a#b'),
  'a path with a space': route('/a b'),
  'a path with DEL': route('/a\u007f'),
  'a path beyond ASCII': route('/\u00e4'),
  'a path with a line end': route('/a\n'),
  'bodySha256 twice': V1_BODY.replace('{', `{"bodySha256":"${hex}",`),
  constructor: V1_BODY.replace('{', '{"constructor":{},'),
  'UTF-16': Buffer.from(V1_BODY, 'utf16le'),
  'something after the value': `${V1_BODY}x`,
  'a second value': `${V1_BODY}${V1_BODY}`,
  'a NUL after the value': `${V1_BODY}\0`,
  'a trailing comma': V1_BODY.replace('}', ',}'),
  'a comment': `/**/${V1_BODY}`,
  'depth without end': '['.repeat(500_000),
};

test.each(Object.entries(bodies))('%s is refused', async (_, body) => {
  const before = await world.turnsUsed();
  expectRefusal(await world.sign({ body }), { status: 400, reason: 'invalid_body' });
  expect(await world.turnsUsed()).toEqual(before);
});

test('white space around the JSON value is accepted', async () => {
  expect((await world.sign({ body: `\r\n\t ${V1_BODY} \n` })).status).toBe(200);
});

test('an empty body is refused as a body even without a media type', async () => {
  const answer = await world.sign({ body: '', headers: { 'content-type': 'text/plain' } });
  expectRefusal(answer, { status: 400, reason: 'invalid_body' });
});

test('an empty chunked body of another media type is refused as a body', async () => {
  const path = `/v1/interns/${world.tenants.internId}/daemon/sign`;
  const headers = { authorization: `Bearer ${await world.issuer.token()}`, 'content-type': 'text/plain' };
  const answer = await world.request({ method: 'POST', path, headers, body: [] });
  expectRefusal(answer, { status: 400, reason: 'invalid_body' });
});
