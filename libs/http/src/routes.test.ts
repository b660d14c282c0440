import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendEnvelope } from './envelope.ts';
import { type Route, routeStrictly } from './routes.ts';

const answer =
  (name: string): Route['handler'] =>
  async (_req, res, parameters) => {
    res.end(JSON.stringify({ name, ...parameters }));
  };
const failing: Route['handler'] = async () => {
  throw new Error('planted');
};

const router = routeStrictly(
  [
    { template: '/v1/things', method: 'GET', handler: answer('list') },
    { template: '/v1/things', method: 'POST', handler: answer('create') },
    { template: '/v1/things/{id}/parts/{part}', method: 'DELETE', handler: answer('remove') },
    { template: '/v1/failing', method: 'GET', handler: failing },
  ],
  { status: 404, message: 'Not found.' },
);
const listener: RequestListener = (req, res) =>
  router(req, res, (error) => sendEnvelope(res, { status: 500, message: String(error) }));
const server = createServer(listener);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

const ask = (method: string, path: string) =>
  fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method });

it.each([
  ['GET', '/v1/things', { name: 'list' }],
  ['GET', '/v1/things?x=/y', { name: 'list' }],
  ['POST', '/v1/things', { name: 'create' }],
  ['DELETE', '/v1/things/a%2Fb/parts/1', { name: 'remove', id: 'a%2Fb', part: '1' }],
])('routes %s %s to its handler, with raw parameters', async (method, path, expected) => {
  expect(await (await ask(method, path)).json()).toEqual(expected);
});

it('routes HEAD like GET', async () => {
  expect((await ask('HEAD', '/v1/things')).status).toBe(200);
});

it.each([
  ['PUT', '/v1/things', 'GET, HEAD, POST'],
  ['GET', '/v1/things/1/parts/2', 'DELETE'],
  ['HEAD', '/v1/things/1/parts/2', 'DELETE'],
])('answers %s %s with the methods of the path', async (method, path, allow) => {
  const reply = await ask(method, path);
  expect([reply.status, reply.headers.get('allow')]).toEqual([405, allow]);
});

it.each(['/v1/thing', '/v1/Things', '/v1/things/', '//v1/things', '/v1/%74hings', '/v1/things//parts/1'])(
  'answers 404 to %s',
  async (path) => {
    expect((await ask('GET', path)).status).toBe(404);
  },
);

it('passes on errors of a handler', async () => {
  expect((await ask('GET', '/v1/failing')).status).toBe(500);
});
