import { rawClient } from '@ori/test-env/raw-client';
import { afterAll, expect, it } from 'vitest';
import { createExpressApp, type Route } from './routes.ts';
import { startApiServer } from './server.ts';

const answer =
  (name: string): Route['handler'] =>
  (req, res) =>
    void res.end(JSON.stringify({ name, ...req.params }));

const notFound = { status: 404, message: 'Not found.' };
const route = (template: string, name: string, method: Route['method'] = 'GET'): Route => ({
  template,
  method,
  handler: answer(name),
});
const appOf = (routes: readonly Route[]) =>
  createExpressApp({
    routes,
    notFound,
    present: (error) => (error instanceof RangeError ? { status: 409, message: 'planted' } : undefined),
  });

const server = await startApiServer({
  host: '127.0.0.1',
  port: 0,
  deadlineMs: 10_000,
  app: appOf([
    route('/v1/things', 'list'),
    route('/v1/things', 'create', 'POST'),
    route('/v1/things/{id}', 'get'),
    route('/v1/things/{id}', 'change', 'PATCH'),
    route('/v1/things/{id}/parts/{part}', 'remove', 'DELETE'),
    route('/v1/a(b)*c:d', 'literal'),
    {
      template: '/v1/failing',
      method: 'GET',
      handler: async () => {
        throw new RangeError();
      },
    },
  ]),
});
afterAll(() => server.stop({ graceMs: 0 }));

/** Without a client that normalizes the path. */
async function ask(method: string, path: string) {
  using client = await rawClient(server.port);
  client.send(Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 'latin1'));
  if (method !== 'HEAD') return await client.answer();
  await client.closed();
  return { status: Number(client.received().split(' ')[1]), body: '', headers: new Map<string, string>() };
}

it.each([
  ['GET', '/v1/things', { name: 'list' }],
  ['GET', '/v1/things?x=/y', { name: 'list' }],
  ['POST', '/v1/things', { name: 'create' }],
  ['DELETE', '/v1/things/a%2Fb/parts/1', { name: 'remove', id: 'a/b', part: '1' }],
  ['GET', '/v1/a(b)*c:d', { name: 'literal' }],
])('routes %s %s to its handler, with decoded parameters', async (method, path, expected) => {
  expect(JSON.parse((await ask(method, path)).body)).toEqual(expected);
});

it.each(['%ff', '%', '%6', 'a%2Fb%zz'])(
  'passes on a parameter that does not decode (%s) as it was sent',
  async (id) => {
    expect(JSON.parse((await ask('GET', `/v1/things/${id}?a=%ff`)).body)).toEqual({ name: 'get', id });
  },
);

it('routes HEAD like GET', async () => {
  expect((await ask('HEAD', '/v1/things')).status).toBe(200);
});

it.each([
  ['PUT', '/v1/things', 'GET, HEAD, POST'],
  ['OPTIONS', '/v1/things', 'GET, HEAD, POST'],
  ['GET', '/v1/things/1/parts/2', 'DELETE'],
  ['HEAD', '/v1/things/1/parts/2', 'DELETE'],
])('answers %s %s with the methods of the path', async (method, path, allow) => {
  const reply = await ask(method, path);
  expect(reply.status).toBe(405);
  if (method !== 'HEAD') expect(reply.headers.get('allow')).toBe(allow);
});

it.each([
  '/v1/thing',
  '/v1/Things',
  '/v1/things/',
  '//v1/things',
  '/v1/%74hings',
  '/v1/things//parts/1',
  '/v1/./things',
  '/v1/x/../things',
  '/v1/things;x',
  '/v1/things%',
  '/',
])('answers 404 to %s', async (path) => {
  expect((await ask('GET', path)).status).toBe(404);
});

it('refuses a path with a byte beyond ASCII, which Express would trim', async () => {
  expect((await ask('GET', '/v1/things\u00a0')).status).toBe(400);
});

it('presents the failure of a handler', async () => {
  expect((await ask('GET', '/v1/failing')).status).toBe(409);
});
