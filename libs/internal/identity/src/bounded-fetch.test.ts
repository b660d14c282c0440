import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { boundedFetch } from './bounded-fetch.ts';

const get = boundedFetch(100);
let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer((req, res) => {
    if (req.url === '/unchanged') res.writeHead(304).end();
    else if (req.url === '/moved') res.writeHead(302, { location: '/100' }).end();
    else res.end('x'.repeat(Number(req.url?.slice(1))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

test('accepts an answer of the maximum size', async () => {
  expect(await (await get(`${url}/100`, {})).text()).toHaveLength(100);
});

test('fails on one byte more', async () => {
  await expect((await get(`${url}/101`, {})).text()).rejects.toThrow();
});

test('accepts an answer without a body', async () => {
  expect(await get(`${url}/unchanged`, {})).toMatchObject({ status: 304, body: null });
});

test('does not follow redirects', async () => {
  expect((await get(`${url}/moved`, {})).status).toBe(302);
});
