import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { serve } from '@ori/test-env/serve';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { fetchLog } from './fetch-log.ts';

const unavailable = expect.objectContaining({ code: 'unavailable' });
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
const server = await serve(createServer((request, response) => answer(request, response)));
const url = `${server.url}/log`;
afterAll(() => server[Symbol.asyncDispose]());

afterEach(() => void vi.unstubAllGlobals());

const answering = (status: number, body = '', headers = {}) => {
  answer = (_request, response) => void response.writeHead(status, headers).end(body);
};

it('takes an answer of at most the bytes that are asked for', async () => {
  answering(200, 'x'.repeat(100));
  const log = fetchLog(url, 5000);
  expect(Buffer.from((await log.get('checkpoint', 100)) ?? '').toString()).toBe('x'.repeat(100));
  await expect(log.get('checkpoint', 99)).rejects.toEqual(unavailable);
  await expect(log.post('lookup', '', 99)).rejects.toEqual(unavailable);
  answering(200);
  expect(await log.get('checkpoint', 0)).toHaveLength(0);
});

it('asks below the prefix, with one slash between, and posts JSON', async () => {
  const asked: (string | undefined)[] = [];
  answer = async (request, response) => {
    const { method, url, headers } = request;
    asked.push(`${method} ${url} ${headers['content-type']} ${await text(request)}`);
    response.end('{}');
  };
  await fetchLog(url, 5000).get('tile/0/000', 10);
  await fetchLog(`${url}/`, 5000).get('tile/0/000', 10);
  await fetchLog(url, 5000).post('lookup', '[1]', 10);
  const got = 'GET /log/tile/0/000 undefined ';
  expect(asked).toEqual([got, got, 'POST /log/lookup application/json [1]']);
});

it('finds nothing for 404, except for a lookup, which every log has', async () => {
  answering(404, 'not here');
  expect(await fetchLog(url, 5000).get('tile/0/000', 100)).toBeUndefined();
  await expect(fetchLog(url, 5000).post('lookup', '', 100)).rejects.toEqual(unavailable);
});

it.each([
  [500, {}],
  [403, {}],
  [302, { location: '/elsewhere' }],
])('takes a log that answers %d for unavailable', async (status, headers) => {
  answering(status, '', headers);
  await expect(fetchLog(url, 5000).get('checkpoint', 100)).rejects.toEqual(unavailable);
});

it('asks again for what came too soon, after the time that the answer names', async () => {
  let refusals = 2;
  let asked = 0;
  let after: string | undefined = '0';
  answer = (_request, response) => {
    asked += 1;
    const refused = refusals-- > 0;
    response.writeHead(refused ? 429 : 200, after === undefined ? {} : { 'retry-after': after }).end('x');
  };
  const get = () => fetchLog(url, 5000).get('checkpoint', 100);
  expect(await get()).toHaveLength(1);
  expect(asked).toBe(3);
  [asked, refusals] = [0, 1000];
  await expect(get()).rejects.toEqual(unavailable);
  expect(asked).toBe(6);
  for (after of ['3600', '-1', 'soon', undefined]) {
    asked = 0;
    await expect(get()).rejects.toEqual(unavailable);
    expect(asked).toBe(1);
  }
});

it('takes an answer without a body as it takes an empty one', async () => {
  vi.stubGlobal('fetch', async () => new Response(null, { status: 404 }));
  expect(await fetchLog(url, 5000).get('tile/0/000', 100)).toBeUndefined();
  vi.stubGlobal('fetch', async () => new Response(null));
  expect(await fetchLog(url, 5000).get('tile/0/000', 100)).toHaveLength(0);
});

it('takes a log for unavailable that does not answer in time, or breaks off', async () => {
  answer = () => undefined;
  await expect(fetchLog(url, 20).get('checkpoint', 100)).rejects.toEqual(unavailable);
  answer = (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('x');
    setImmediate(() => response.destroy());
  };
  await expect(fetchLog(url, 5000).get('checkpoint', 100)).rejects.toEqual(unavailable);
});
