import { createServer, type RequestListener } from 'node:http';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { describe, expect, test } from 'vitest';
import { createRemoteJson, type RemoteJsonOptions } from './remote-json.ts';

const URL_HTTPS = 'https://keys.example/jwks.json';

/** A URL under the control of the test: its answers, its request count, and the time. */
function world(options: Partial<RemoteJsonOptions<unknown>> = {}) {
  const state = {
    nowMs: 0,
    asked: 0,
    answer: async (): Promise<Response> => Response.json({ version: state.asked }),
  };
  const fetch = async (): Promise<Response> => {
    state.asked += 1;
    return state.answer();
  };
  const remote = createRemoteJson<unknown>({
    url: URL_HTTPS,
    parse: (value) => value,
    freshSeconds: 60,
    staleSeconds: 600,
    coolDownSeconds: 10,
    timeoutMs: 1000,
    bytesMax: 1000,
    fetch,
    now: () => state.nowMs,
    ...options,
  });
  return { state, remote };
}

const serve = async (listener: RequestListener): Promise<string> =>
  `${(await serveInTest(createServer(listener))).url}/`;

const failing = async (): Promise<Response> => new Response('down', { status: 500 });

test('fetches once for all concurrent callers', async () => {
  const { state, remote } = world();
  const documents = await Promise.all(Array.from({ length: 100 }, () => remote.get()));
  expect(state.asked).toBe(1);
  expect(new Set(documents).size).toBe(1);
});

test('asks shared caches to revalidate', async () => {
  const url = await serve(({ headers }, response) => response.end(JSON.stringify(headers)));
  const { remote } = world({ url, fetch: globalThis.fetch });
  expect(await remote.get()).toMatchObject({ 'cache-control': 'no-cache' });
});

test('does not fetch again while the document is fresh', async () => {
  const { state, remote } = world();
  await remote.get();
  state.nowMs = 47_000;
  expect(await remote.get()).toEqual({ version: 1 });
  expect(state.asked).toBe(1);
});

test('renews in the background before the document expires', async () => {
  const { state, remote } = world();
  await remote.get();
  state.nowMs = 50_000;
  expect(await remote.get()).toEqual({ version: 1 });
  expect(state.asked).toBe(2);
  await remote.refresh();
  expect(state.asked).toBe(2);
  expect(remote.peek()).toEqual({ version: 2 });
});

test('serves the last document for a bounded time while its URL fails', async () => {
  const { state, remote } = world();
  await remote.get();
  state.answer = failing;
  state.nowMs = 659_000;
  expect(await remote.get()).toEqual({ version: 1 });
  state.nowMs = 660_000;
  await expect(remote.get()).rejects.toMatchObject({ name: 'RemoteJsonError', code: 'bad_status' });
});

test('names the path of its URL in a failure, and not the query', async () => {
  const { remote } = world({ url: `${URL_HTTPS}?secret=1`, fetch: failing });
  await expect(remote.get()).rejects.toThrow(/^https:\/\/keys\.example\/jwks\.json: expected 200, got 500$/);
});

test('does not treat a document as fresh after a failed renewal', async () => {
  const { state, remote } = world({ staleSeconds: 0 });
  await remote.get();
  state.answer = failing;
  state.nowMs = 59_000;
  await remote.refresh();
  state.nowMs = 60_000;
  await expect(remote.get()).rejects.toMatchObject({ code: 'bad_status' });
});

test('fetches at most once per cool-down after a failure', async () => {
  const { state, remote } = world();
  state.answer = failing;
  for (let i = 0; i < 1000; i += 1) await remote.get().catch(() => undefined);
  expect(state.asked).toBe(1);
  state.nowMs = 10_000;
  await remote.get().catch(() => undefined);
  expect(state.asked).toBe(2);
});

test('fetches at most once per cool-down after a success, however often a refresh is requested', async () => {
  const { state, remote } = world();
  const first = await remote.get();
  for (let i = 0; i < 1000; i += 1) expect(await remote.refresh()).toBe(first);
  expect(state.asked).toBe(1);
  state.nowMs = 10_000;
  expect(await remote.refresh()).toEqual({ version: 2 });
  expect(state.asked).toBe(2);
});

test('recovers by itself once the URL answers again', async () => {
  const { state, remote } = world();
  state.answer = failing;
  await expect(remote.get()).rejects.toThrow();
  state.answer = async () => Response.json('back');
  state.nowMs = 10_000;
  expect(await remote.get()).toBe('back');
});

// SPEC.md K16.
test.each([
  ['max-age shorter than ours', { 'cache-control': 'public, max-age=20' }, 20],
  ['max-age longer than ours', { 'cache-control': 'max-age=86400' }, 60],
  ['Age already spent in caches', { 'cache-control': 'max-age=50', age: '25' }, 25],
  ['Age beyond max-age: the cool-down at least', { 'cache-control': 'max-age=50', age: '500' }, 10],
  ['no-store: the cool-down at least', { 'cache-control': 'no-store' }, 10],
  ['a max-age that is not a number', { 'cache-control': 'max-age=soon' }, 60],
])('uses the document as long as the answer allows: %s', async (_name, headers, freshSeconds) => {
  const { state, remote } = world();
  state.answer = async () => Response.json({}, { headers });
  await remote.get();
  state.nowMs = freshSeconds * 1000 - 1;
  expect(remote.peek()).toBeDefined();
  state.nowMs = freshSeconds * 1000;
  expect(remote.peek()).toBeUndefined();
});

// SPEC.md K15.
test.each([301, 302, 303, 307, 308])('never follows a redirect: %i', async (status) => {
  let elsewhere = 0;
  const target = await serve((_request, response) => {
    elsewhere += 1;
    response.end('{}');
  });
  const url = await serve((_request, response) => response.writeHead(status, { location: target }).end());
  const { remote } = world({ url, fetch: globalThis.fetch });
  await expect(remote.get()).rejects.toMatchObject({ code: 'redirected' });
  expect(elsewhere).toBe(0);
});

test('times out if the URL does not answer', async () => {
  const url = await serve(() => undefined);
  const { remote } = world({ url, fetch: globalThis.fetch, timeoutMs: 50 });
  await expect(remote.get()).rejects.toMatchObject({ code: 'timed_out' });
});

test('times out if the body does not end', async () => {
  const url = await serve((_request, response) => response.write('{"keys":'));
  const { remote } = world({ url, fetch: globalThis.fetch, timeoutMs: 100 });
  await expect(remote.get()).rejects.toMatchObject({ code: 'timed_out' });
});

test('reports a refused connection', async () => {
  const { remote } = world({ url: 'http://127.0.0.1:1/', fetch: globalThis.fetch });
  await expect(remote.get()).rejects.toMatchObject({ code: 'unreachable' });
});

test('reads at most up to the limit', async () => {
  const url = await serve((_request, response) => response.end(JSON.stringify('x'.repeat(1000))));
  const { remote } = world({ url, fetch: globalThis.fetch });
  await expect(remote.get()).rejects.toMatchObject({ code: 'too_large' });
});

test.each([
  ['no JSON', 'keys'],
  ['not UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
])('refuses an answer that is %s', async (_name, body) => {
  const { state, remote } = world();
  state.answer = async () => new Response(body);
  await expect(remote.get()).rejects.toMatchObject({ code: 'unreadable' });
});

test('refuses a document that its parser refuses, and keeps the previous one', async () => {
  const { state, remote } = world({
    parse: (value) => {
      if (value === 'bad') throw new Error('not a document');
      return value;
    },
  });
  const first = await remote.get();
  state.answer = async () => Response.json('bad');
  state.nowMs = 10_000;
  expect(await remote.refresh()).toBe(first);
});

test('throws once closed', async () => {
  const { state, remote } = world();
  await remote.get();
  remote.close();
  await expect(remote.get()).rejects.toMatchObject({ code: 'closed' });
  await expect(remote.refresh()).rejects.toMatchObject({ code: 'closed' });
  expect(remote.peek()).toBeUndefined();
  expect(state.asked).toBe(1);
});

test('aborts a fetch in progress when closed', async () => {
  const url = await serve(() => undefined);
  const { remote } = world({ url, fetch: globalThis.fetch, timeoutMs: 60_000 });
  const waiting = remote.get();
  remote.close();
  await expect(waiting).rejects.toMatchObject({ code: 'closed' });
});

test.each([
  'http://keys.example/',
  'http://127.0.0.1.keys.example/',
  'http://localhost.keys.example/',
  'ftp://keys.example/',
  'file:///etc/passwd',
  'https://user:secret@keys.example/',
])('refuses the URL %s', (url) => {
  expect(() => world({ url })).toThrow(TypeError);
});

test.each(['http://localhost:8080/', 'http://127.0.0.1/', 'http://[::1]:1/', 'https://keys.example/'])(
  'accepts the URL %s',
  (url) => {
    expect(() => world({ url })).not.toThrow();
  },
);

test('accepts plain http to another host only if allowed', () => {
  expect(() => world({ url: 'http://keys.internal/', allowPlainHttp: true })).not.toThrow();
});

test.each([
  { freshSeconds: 0 },
  { coolDownSeconds: -1 },
  { timeoutMs: Number.NaN },
  { bytesMax: Number.POSITIVE_INFINITY },
  { staleSeconds: -1 },
])('refuses limits that cannot work: %o', (limits) => {
  expect(() => world(limits)).toThrow(TypeError);
});

describe('without shared fetches, as on workerd', () => {
  test('no caller waits for the fetch of another one', async () => {
    const { state, remote } = world({ sharesFetches: false });
    const never = Promise.withResolvers<Response>();
    state.answer = () => (state.asked === 1 ? never.promise : Promise.resolve(Response.json({ version: 2 })));
    const abandoned = remote.get().catch(() => undefined);
    expect(await remote.get()).toEqual({ version: 2 });
    never.reject(new Error('its request ended'));
    await abandoned;
    expect(await remote.get()).toEqual({ version: 2 });
  });

  test('nothing is fetched in the background', async () => {
    const { state, remote } = world({ sharesFetches: false });
    await remote.get();
    state.nowMs = 59_000;
    await remote.get();
    expect(state.asked).toBe(1);
  });
});
