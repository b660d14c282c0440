import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { openVerifier } from '@ori/test-env/verifier/open-verifier';
import express from 'express';
import { expect, test, vi } from 'vitest';
import { keepAnswers } from '../answers/keep-answers.ts';
import { memoryReplayStore } from '../replay/memory/store.ts';
import type { TestProofOptions } from '../testing/testing.ts';
import { provenOf, requireProof } from './express.ts';

const PATH = '/api/invoke';
const BODY = '{"prompt":"hello"}';

/** A daemon on its own port. */
const serve = (listener: RequestListener) => serveInTest(createServer(listener));

function guard(answers = false) {
  const { signer, verifier } = openVerifier({ answers: answers ? keepAnswers() : undefined });
  return { signer, verifier, proof: requireProof(verifier, { bodyBytesMax: 1000 }) };
}

async function world() {
  const { signer, proof } = guard();
  const app = express();
  app.post(PATH, proof, express.json(), (request, response) => {
    // What body parsers of Express 4 look at.
    expect(request).toMatchObject({ _body: true });
    const { proof, body } = provenOf(request);
    response.json({ user: proof.user, bytes: body.toString() });
  });
  const daemon = await serve(app);
  const call = (options: Partial<TestProofOptions> = {}, sent: RequestInit = {}, path = PATH) => {
    const headers = signer.sign({ path: PATH, body: BODY, ...options });
    return fetch(daemon.url + path, {
      method: 'POST',
      body: options.body ?? BODY,
      ...sent,
      headers: { 'content-type': 'application/json', ...headers, ...sent.headers } as Record<string, string>,
    });
  };
  return { ...daemon, signer, call };
}

/** Sends bytes as they are and reads until the other side closes. */
async function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(text, 'latin1');
  let answer = '';
  for await (const chunk of socket.setEncoding('latin1')) answer += chunk;
  return answer;
}

test('sees another path that routes to the same handler', async () => {
  const { call } = await world();
  const response = await call({}, {}, '/API/invoke');
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ error: { code: 'signature_invalid' } });
});

test('sees the target as sent, wherever it is mounted', async () => {
  const { signer, proof } = guard();
  const app = express();
  app.use(
    '/api',
    express.Router().use(proof, (request, response) => response.json(provenOf(request).proof.user)),
  );
  const { url } = await serve(app);
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: BODY }) };
  expect((await fetch(url + PATH, { method: 'POST', body: BODY, headers })).status).toBe(200);
});

test('accepts a chunked body', async () => {
  const { call } = await world();
  const body = ReadableStream.from(['{"prompt":', '"hello"}'].map((part) => Buffer.from(part)));
  expect((await call({}, { body, duplex: 'half' } as RequestInit)).status).toBe(200);
});

// SPEC.md E6.
test('answers a body beyond the limit with 413 though its length was not announced', async () => {
  const { port, signer } = await world();
  const body = JSON.stringify('x'.repeat(1000));
  const headers = Object.entries(signer.sign({ path: PATH, body })).map((pair) => pair.join(': '));
  const head = [`POST ${PATH} HTTP/1.1`, 'host: daemon', 'content-type: application/json', ...headers];
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
  const answer = await raw(port, `${head.join('\r\n')}\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`);
  expect(answer).toMatch(/^HTTP\/1.1 413 /);
  expect(answer.toLowerCase()).toContain('connection: close');
});

test.each([
  ['an error', new Error('mine')],
  ['undefined', undefined],
])("passes %s that the handler throws to the application's error handler", async (_what, thrown) => {
  const { signer, verifier } = guard();
  const caught = vi.fn<(error: unknown) => void>();
  const app = express().post(
    PATH,
    requireProof(verifier, { bodyBytesMax: 1000 }, () => {
      throw thrown;
    }),
  );
  app.use(((error, _request, response, _next) => {
    caught(error);
    response.sendStatus(500);
  }) satisfies express.ErrorRequestHandler);
  const { url } = await serve(app);
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: BODY }) };
  expect((await fetch(url + PATH, { method: 'POST', body: BODY, headers })).status).toBe(500);
  expect(caught.mock.calls).toEqual([[thrown ?? expect.any(Error)]]);
});

test.each([null, 'handler'])('refuses %o in place of a handler', (handler) => {
  const { verifier } = guard();
  expect(() => requireProof(verifier, { bodyBytesMax: 1000 }, handler as never)).toThrow(TypeError);
});

test('says how long to wait while the store is new', async () => {
  const { signer, verifier } = openVerifier({ replay: memoryReplayStore() });
  const app = express().use(requireProof(verifier, { bodyBytesMax: 1000 }));
  const { url } = await serve(app);
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: BODY }) };
  const response = await fetch(url + PATH, { method: 'POST', body: BODY, headers });
  expect(response.status).toBe(401);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(await response.json()).toMatchObject({ error: { code: 'proof_before_fence' } });
});

test('the answer of a handler that throws in the middle of it is lost at once', async () => {
  const { signer, verifier } = guard(true);
  const route = requireProof(verifier, { bodyBytesMax: 1000 }, (_request, response) => {
    response.write('half of');
    throw new Error('mine');
  });
  const quiet: express.ErrorRequestHandler = (_error, _request, response, _next) =>
    response.socket?.destroy();
  const { url } = await serve(express().post(/.*/, route).use(quiet));
  const send = (path: string, body: string, headers: object) =>
    fetch(url + path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const proof = signer.sign({ path: PATH, body: BODY });
  await expect(send(PATH, BODY, proof).then((response) => response.text())).rejects.toThrow();
  const path = `/.well-known/ori/calls/${proof['x-ori-invoke-nonce']}`;
  const asked = await send(path, '', signer.sign({ path, body: '' }));
  expect([asked.status, await asked.json()]).toMatchObject([410, { error: { code: 'answer_lost' } }]);
});

test('does not call next without a router, as under node:http', async () => {
  const { signer, proof } = guard();
  const reached = vi.fn<() => void>();
  const { url } = await serve((request, response) => {
    (request as { body?: unknown }).body = 'parsed by something before';
    proof(request, response, reached);
  });
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: BODY }) };
  expect((await fetch(url + PATH, { method: 'POST', body: BODY, headers })).status).toBe(500);
  expect(reached).not.toHaveBeenCalled();
});

test('a handler that throws in the middle of its answer reaches the error handlers', async () => {
  const { signer, verifier } = guard();
  const app = express();
  const failed = vi.fn();
  app.post(
    PATH,
    requireProof(verifier, { bodyBytesMax: 1000 }, (_request, response) => {
      response.writeHead(200).write('some');
      throw new Error('mine');
    }),
  );
  app.use(((error, _request, response, _next) => {
    failed(error.message);
    response.end();
  }) as express.ErrorRequestHandler);
  const { url } = await serve(app);
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: BODY }) };
  expect(await (await fetch(url + PATH, { method: 'POST', body: BODY, headers })).text()).toBe('some');
  expect(failed).toHaveBeenCalledExactlyOnceWith('mine');
});

test('does not take a server with a logger for Fastify', async () => {
  const { signer, proof } = guard();
  const { url } = await serve((request, response) =>
    proof(Object.assign(request, { log: console }), response, () => response.end('next')),
  );
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: BODY }) };
  expect(await (await fetch(url + PATH, { method: 'POST', body: BODY, headers })).text()).toBe('next');
});
