import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { rawClient } from '@ori/test-env/raw-client';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { openVerifier } from '@ori/test-env/verifier/open-verifier';
import { expect, test, vi } from 'vitest';
import { keepAnswers } from '../answers/keep-answers.ts';
import type { AnswerStore } from '../replay/replay-store.ts';
import { createTestReplayStore } from '../testing/testing.ts';
import { type Proven, requireProof } from './node.ts';
import { answerNode } from './node-request.ts';

const PATH = '/api/invoke';
const BODY = '{"prompt":"hello"}';

type Handler = (request: IncomingMessage, response: ServerResponse, proven: Proven) => unknown;

async function world(handler: Handler, options: ServerOptions = {}) {
  const { signer, verifier, reports } = openVerifier();
  const ran = vi.fn(handler);
  const guarded = requireProof(verifier, { bodyBytesMax: 1000 }, ran);
  const { server, port, url } = await serveInTest(createServer(options, guarded));
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: BODY }) };
  const call = () => fetch(url + PATH, { method: 'POST', body: BODY, headers });
  return { server, port, guarded, signer, headers, call, ran, reports };
}

test('does not call the handler for a body with a malformed chunk', async () => {
  const { server, port, headers, ran, reports } = await world((_request, response) => response.end());
  const lines = Object.entries({ host: 'daemon', ...headers }).map((pair) => pair.join(': '));
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const requested = once(server, 'request');
  socket.write(`POST ${PATH} HTTP/1.1\r\n${lines.join('\r\n')}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`);
  const [, response] = await requested;
  socket.resume();
  await once(response, 'close');
  await expect.poll(() => reports).toMatchObject([{ outcome: 'aborted' }]);
  expect(ran).not.toHaveBeenCalled();
});

test.each<[string, Handler]>([
  ['its handler', (_request, response) => response.end('mine')],
  ['an error of its handler', () => Promise.reject(new Error('mine'))],
])('is done once the request has been answered, by %s', async (_by, handler) => {
  const { server, guarded, call } = await world(handler);
  const answered = vi.fn();
  server.removeAllListeners('request').on('request', async (request, response) => {
    await guarded(request, response);
    answered(response.writableEnded);
  });
  await (await call()).text();
  expect(answered).toHaveBeenCalledExactlyOnceWith(true);
});

test.each<[string, Handler]>([
  [
    'throws',
    () => {
      throw new Error('mine');
    },
  ],
  ['rejects', async () => Promise.reject(new Error('mine'))],
])('answers 500 when the handler %s, and reports its error', async (_how, handler) => {
  const { call, reports } = await world(handler);
  const response = await call();
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ error: { code: 'internal_error', message: expect.any(String) } });
  expect(reports).toMatchObject([
    { outcome: 'accepted' },
    { outcome: 'internal_error', error: { message: 'the handler threw', cause: { message: 'mine' } } },
  ]);
});

test('refuses in front of middleware that sets a header when the response ends', async () => {
  const { guarded, ran } = await world(() => undefined);
  const { url } = await serveInTest(
    createServer((request, response) => {
      const { end } = response;
      response.end = ((...args: never) =>
        Reflect.apply(end, response.setHeader('x-end', '1'), args)) as never;
      guarded(request, response);
    }),
  );
  const refused = await fetch(url + PATH);
  const { headers } = refused;
  expect([refused.status, headers.get('x-end'), headers.get('connection')]).toEqual([401, '1', 'keep-alive']);
  expect(ran).not.toHaveBeenCalled();
});

test('gives an empty kept answer behind middleware that set a length', async () => {
  const replay = createTestReplayStore();
  const kept = { status: 200, headers: {}, body: new Uint8Array(0) };
  vi.spyOn(replay.answers as AnswerStore, 'ask').mockResolvedValue(kept);
  const { signer, verifier } = openVerifier({ replay, answers: keepAnswers() });
  const guarded = requireProof(verifier, { bodyBytesMax: 100 }, () => undefined);
  const { url } = await serveInTest(
    createServer((request, response) => guarded(request, response.setHeader('content-length', 9))),
  );
  const path = `/.well-known/ori/calls/${'A'.repeat(22)}`;
  const headers = { 'content-type': 'application/json', ...signer.sign({ path, body: '' }) };
  expect(await (await fetch(url + path, { method: 'POST', headers })).text()).toBe('');
});

test('an empty kept answer with status 204 has no length', async () => {
  const answer = { status: 204, headers: {}, body: new Uint8Array(0) };
  const { url } = await serveInTest(
    createServer((request, response) =>
      answerNode({ answer, isAborted: false, closes: false }, request, response, 100),
    ),
  );
  const { status, headers } = await fetch(url);
  expect([status, headers.get('content-length')]).toEqual([204, null]);
});

test('writes nothing to a client that broke off, whose body may have been cut', async () => {
  const answer = { status: 200, headers: {}, body: 'not for it' };
  const { url } = await serveInTest(
    createServer((request, response) =>
      answerNode({ answer, isAborted: true, closes: false }, request, response, 100),
    ),
  );
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('a refusal has a length also behind middleware that removed it', async () => {
  const { guarded } = await world(() => undefined);
  const { url } = await serveInTest(
    createServer((request, response) => {
      response.removeHeader('content-length');
      guarded(request, response);
    }),
  );
  const refused = await fetch(url + PATH);
  expect(refused.headers.get('content-length')).toBe(String((await refused.text()).length));
});

test('refuses a body that is announced as too large before it arrives', async () => {
  const { port, headers, ran } = await world(() => undefined);
  using client = await rawClient(port);
  const lines = Object.entries({ host: 'daemon', ...headers, 'content-length': '1001' }).map((pair) =>
    pair.join(': '),
  );
  client.send(`POST ${PATH} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  expect((await client.answer()).status).toBe(413);
  expect(ran).not.toHaveBeenCalled();
});

test.each<[string, string | ReadableStream]>([
  ['announced', BODY],
  ['chunked', new Blob([BODY]).stream()],
])('refuses an %s body that middleware has read to its end without keeping it', async (_how, body) => {
  const { guarded, headers, ran } = await world(() => undefined);
  const { url } = await serveInTest(
    createServer(async (request, response) => {
      for await (const _chunk of request);
      guarded(request, response);
    }),
  );
  const { status } = await fetch(url + PATH, {
    method: 'POST',
    body,
    headers,
    duplex: 'half',
  } as RequestInit);
  expect(status).toBe(500);
  expect(ran).not.toHaveBeenCalled();
});

test('answers 500 without what the handler set for another body', async () => {
  const { call } = await world((_request, response) => {
    const headers = { 'content-length': 100, 'content-encoding': 'gzip', trailer: 'x-a', 'x-own': '1' };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusMessage = '€';
    response.end('mine');
  });
  const { status, headers, text } = await call().then(async (answer) => ({
    status: answer.status,
    headers: answer.headers,
    text: await answer.text(),
  }));
  expect([status, headers.get('x-own'), JSON.parse(text).error.code]).toEqual([500, '1', 'internal_error']);
  expect([headers.get('content-length'), headers.get('connection')]).toEqual([
    `${text.length}`,
    'keep-alive',
  ]);
});

test('does not break off an answer whose handler fails at its end', async () => {
  const body = 'x'.repeat(10_000_000);
  const { call } = await world((_request, response) => {
    response.end(body);
    throw new Error('mine');
  });
  expect(await (await call()).text()).toHaveLength(body.length);
});

test('closes the connection when the handler fails in the middle of its answer', async () => {
  const { call } = await world((_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('some');
    throw new Error('mine');
  });
  await expect(call().then((response) => response.text())).rejects.toThrow();
});

test('reports that it is mounted twice, and does not call the inner handler', async () => {
  const { guarded, call, reports, ran } = await world((request, response) => guarded(request, response));
  expect((await call()).status).toBe(500);
  expect(ran).toHaveBeenCalledTimes(1);
  const [, report] = reports;
  expect(report).toMatchObject({ outcome: 'internal_error', error: expect.any(TypeError) });
  expect(String(report?.error)).toContain('twice');
});

test('calls onOutcome in the context of its request, where a tracer finds the span', async () => {
  const context = new AsyncLocalStorage<string>();
  const outcomes: unknown[] = [];
  const { signer, verifier } = openVerifier({
    onOutcome: ({ outcome }) => void outcomes.push([context.getStore(), outcome]),
  });
  const guarded = requireProof(verifier, { bodyBytesMax: 100 }, (_request, response) => response.end());
  const { url } = await serveInTest(
    createServer((request, response) =>
      context.run(String(request.headers['traceparent']), guarded, request, response),
    ),
  );
  const call = (traceparent: string, body: string, headers: object) =>
    fetch(url + PATH, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', traceparent, ...headers },
    });
  const proof = { ...signer.sign({ path: PATH, body: BODY }) };
  const long = 'x'.repeat(101);
  await call('a', BODY, proof);
  await call('b', BODY, proof);
  await call('c', BODY, {});
  await call('d', long, { ...signer.sign({ path: PATH, body: long }) });
  expect(outcomes).toEqual([
    ['a', 'accepted'],
    ['b', 'nonce_replayed'],
    ['c', 'proof_missing'],
    ['d', 'body_too_large'],
  ]);
});

test('accepts a call without a body on a server that ends such requests itself', async () => {
  const handler: Handler = (_request, response, { body }) => void response.end(`${body.length} bytes`);
  const { port, signer } = await world(handler, { optimizeEmptyRequests: true });
  const proof = signer.sign({ path: PATH, body: '' });
  const lines = Object.entries({ host: 'daemon', 'content-type': 'application/json', ...proof });
  using client = await rawClient(port);
  client.send(`POST ${PATH} HTTP/1.1\r\n${lines.map((pair) => pair.join(': ')).join('\r\n')}\r\n\r\n`);
  expect((await client.answer()).body).toBe('0 bytes');
});
