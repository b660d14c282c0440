import { createHash } from 'node:crypto';
import { createServer, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { createAnswerKey, readAnswerProof, verifyAnswer } from '@ori/proof/answer-proof';
import { signingInputV2 } from '@ori/proof/signing-input';
import { serveInTest } from '@ori/test-env/serve-in-test';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { expect, onTestFinished, test } from 'vitest';
import { requireProof as forExpress } from '../adapters/express.ts';
import { requireProof as forFastify } from '../adapters/fastify.ts';
import { requireProof as forFetch } from '../adapters/fetch.ts';
import { requireProof as forHono } from '../adapters/hono.ts';
import { requireProof as forKoa } from '../adapters/koa.ts';
import { requireProof as forNode } from '../adapters/node.ts';
import { createLocalKeySet } from '../keys/local.ts';
import { createTestReplayStore, createTestSigner } from '../testing/testing.ts';
import { createVerifier, type Verifier } from '../verifier.ts';
import { type AnswersOptions, keepAnswers } from './keep-answers.ts';

const PATH = '/api/invoke';
const QUESTIONS = '/.well-known/ori/calls';
const OPTIONS = { bodyBytesMax: 1000 };
const SEED = new Uint8Array(32).fill(7);
const { x } = createAnswerKey(SEED);

type Listen = (verifier: Verifier) => Promise<number> | number;

const byNode =
  (handle: (response: ServerResponse) => unknown): Listen =>
  async (verifier) =>
    (await serveInTest(createServer(forNode(verifier, OPTIONS, (_req, res) => handle(res))))).port;

const byExpress =
  (handle: (response: express.Response) => unknown, use: express.RequestHandler[] = []): Listen =>
  async (verifier) => {
    const app = express().set('env', 'test');
    for (const each of use) app.use(each);
    const invoke = forExpress(verifier, OPTIONS, (_req, res) => handle(res));
    app.post(PATH, invoke).use(QUESTIONS, invoke);
    return (await serveInTest(createServer(app))).port;
  };

const byKoa =
  (handle: (context: Koa.Context) => unknown): Listen =>
  async (verifier) => {
    const app = Object.assign(new Koa(), { silent: true });
    app.use(forKoa(verifier, OPTIONS, (context) => handle(context)));
    return (await serveInTest(createServer(app.callback()))).port;
  };

const byFastify =
  (handle: Parameters<typeof forFastify>[2]): Listen =>
  async (verifier) => {
    const app = fastify();
    app.post(PATH, forFastify(verifier, OPTIONS, handle));
    app.post(`${QUESTIONS}/*`, forFastify(verifier, OPTIONS, handle));
    await app.listen({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => app.close());
    return (app.server.address() as AddressInfo).port;
  };

const byFetch =
  (handle: () => Response | Promise<Response>): Listen =>
  async (verifier) =>
    (await serveInTest(createServer(getRequestListener(forFetch(verifier, OPTIONS, handle))))).port;

const byHono =
  (handle: Parameters<typeof forHono>[2]): Listen =>
  async (verifier) => {
    const app = new Hono();
    app.on('POST', [PATH, `${QUESTIONS}/*`], forHono(verifier, OPTIONS, handle));
    return (await serveInTest(createServer(getRequestListener(app.fetch)))).port;
  };

/** A daemon with a key, and calls to it as a client with that key makes them. */
async function world(listen: Listen, options: AnswersOptions = {}) {
  const signer = createTestSigner({ internId: 'int_1' });
  const verifier = createVerifier({
    internId: 'int_1',
    keys: createLocalKeySet(signer.jwks),
    replay: createTestReplayStore(),
    answers: keepAnswers({ key: SEED, ...options }),
  });
  const port = await listen(verifier);

  async function send(path: string, body: string) {
    const proof = signer.sign({ path, body, user: 'ada' });
    const answer = await raw(port, path, { 'content-type': 'application/json', ...proof }, body);
    const input = signingInputV2({
      internId: 'int_1',
      timestamp: Number(proof['x-ori-invoke-timestamp']),
      user: 'ada',
      nonce: String(proof['x-ori-invoke-nonce']),
      method: 'POST',
      path,
      bodySha256: createHash('sha256').update(body).digest('hex'),
    });
    const call = createHash('sha256').update(input).digest('hex');
    return { ...answer, call, nonce: String(proof['x-ori-invoke-nonce']) };
  }

  return {
    port,
    signer,
    call: () => send(PATH, '{"prompt":"hello"}'),
    ask: (nonce: string, part = '') => send(`${QUESTIONS}/${nonce}${part}`, ''),
  };
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function raw(port: number, path: string, headers: object, body: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', method: 'POST', path, headers: { ...headers } },
      async (answer) => {
        const chunks: Buffer[] = [];
        try {
          for await (const chunk of answer) chunks.push(chunk);
        } catch (error) {
          reject(error);
        }
        const all: Record<string, string> = {};
        for (let index = 0; index < answer.rawHeaders.length; index += 2) {
          const [name = '', value = ''] = [
            answer.rawHeaders[index]?.toLowerCase(),
            answer.rawHeaders[index + 1],
          ];
          all[name] = all[name] === undefined ? value : `${all[name]}, ${value}`;
        }
        resolve({ status: answer.statusCode ?? 0, headers: all, body: Buffer.concat(chunks) });
      },
    );
    sent.on('error', reject).end(body);
  });
}

/** What a client with the key makes of the header beside this answer. */
function judge(
  header: string | undefined,
  call: string,
  { status, headers, body }: Got,
): 'proven' | 'later' | 'unproven' {
  const proof = readAnswerProof(header ?? '');
  if (proof?.x !== x) return 'unproven';
  if (proof.signature === undefined) return 'later';
  const answer = { call, status, mediaType: headers['content-type'] ?? '', body };
  return verifyAnswer(x, answer, proof.signature) ? 'proven' : 'unproven';
}

const JSON_TEXT = '{"a":"ü"}';
const PLAIN = { 'content-type': 'text/plain' };

test.each<[how: string, listen: Listen]>([
  ['node: end', byNode((res) => res.end(JSON_TEXT))],
  ['node: end of nothing', byNode((res) => res.end())],
  [
    'node: end in another encoding',
    byNode((res) => res.setHeader('content-type', 'text/plain').end('00ff', 'hex')),
  ],
  ['node: writeHead, end', byNode((res) => res.writeHead(201, 'Made', PLAIN).end('a'))],
  [
    'node: writeHead with a list, end',
    byNode((res) => res.writeHead(201, ['Content-Type', 'text/plain']).end('a')),
  ],
  [
    'node: writeHead with pairs, end',
    byNode((res) => res.writeHead(201, [['content-type', 'text/plain']] as never).end('a')),
  ],
  ['node: writeHead, end of nothing', byNode((res) => res.writeHead(400).end())],
  ['node: 204', byNode((res) => res.writeHead(204).end())],
  ['node: 304 with a body that Node leaves out', byNode((res) => res.writeHead(304, PLAIN).end('left out'))],
  [
    'node: a write of all that Content-Length announces',
    byNode((res) => {
      res.writeHead(200, { ...PLAIN, 'content-length': 3 });
      res.write('abc');
      setImmediate(() => res.end());
    }),
  ],
  ['node: a Content-Type of spaces', byNode((res) => res.setHeader('content-type', '  ').end('a'))],
  [
    'node: two Content-Types',
    byNode((res) => res.setHeader('content-type', ['text/plain', 'text/html']).end('a')),
  ],
  ['Express: json', byExpress((res) => res.json({ a: 1 }))],
  ['Express: send of bytes', byExpress((res) => res.status(202).send(Buffer.from([1, 2, 255])))],
  ['Express: sendStatus', byExpress((res) => res.sendStatus(404))],
  ['Express: redirect', byExpress((res) => res.redirect('/elsewhere'))],
  ['Express: an error that it answers', byExpress(() => Promise.reject(new Error('mine')))],
  ['Koa: an object', byKoa((ctx) => Object.assign(ctx, { body: { a: 1 } }))],
  ['Koa: a text', byKoa((ctx) => Object.assign(ctx, { body: 'text' }))],
  ['Koa: null', byKoa((ctx) => Object.assign(ctx, { body: null }))],
  ['Koa: an error that it answers', byKoa((ctx) => ctx.throw(418, 'mine'))],
  ['Fastify: an object', byFastify(async () => ({ a: 1 }))],
  ['Fastify: a text', byFastify(async (_req, reply) => reply.code(201).send('text'))],
  ['Fastify: bytes', byFastify(async () => Buffer.from([1, 2, 255]))],
  ['Fastify: nothing', byFastify(async (_req, reply) => reply.code(204).send())],
  ['Fastify: an error that it answers', byFastify(() => Promise.reject(new Error('mine')))],
  ['Fetch: a text', byFetch(() => new Response('text'))],
  ['Fetch: json', byFetch(() => Response.json({ a: 1 }, { status: 201 }))],
  ['Fetch: bytes', byFetch(() => new Response(Uint8Array.of(1, 2, 255), { headers: PLAIN }))],
  ['Fetch: nothing', byFetch(() => new Response(null, { status: 204 }))],
  ['Fetch: an empty text', byFetch(() => new Response(''))],
  ['Hono: json', byHono((c) => c.json({ a: 1 }))],
  ['Hono: text', byHono((c) => c.text('text', 404))],
  ['Hono: bytes without a type', byHono((c) => c.body(Uint8Array.of(1, 2).buffer))],
])('%s: the head proves the answer, and so does that of the kept one', async (_how, listen) => {
  const { call, ask } = await world(listen);
  const answer = await call();
  expect(judge(answer.headers['ori-answer-proof'], answer.call, answer)).toBe('proven');
  const kept = await ask(answer.nonce);
  expect([kept.status, kept.headers['content-type'], kept.body, kept.headers['ori-answer']]).toEqual([
    answer.status,
    answer.headers['content-type'],
    answer.body,
    'kept',
  ]);
  expect(judge(kept.headers['ori-answer-proof'], answer.call, kept)).toBe('proven');
});

const sse = { 'content-type': 'text/event-stream' };
const streamOf = (...parts: string[]) => Readable.from(parts.map((part) => Buffer.from(part)));

test.each<[how: string, listen: Listen]>([
  [
    'node: pieces',
    byNode((res) => {
      res.writeHead(200, sse).write('a');
      setImmediate(() => res.end('b'));
    }),
  ],
  [
    'node: flushHeaders',
    byNode((res) => {
      res.setHeader('content-type', 'text/event-stream');
      res.flushHeaders();
      res.end('b');
    }),
  ],
  ['node: pipe', byNode((res) => streamOf('a', 'b').pipe(res))],
  [
    'node: trailers',
    byNode((res) => {
      res.writeHead(200, { trailer: 'x-end' });
      res.write('a');
      res.addTrailers({ 'x-end': '1' });
      res.end('b');
    }),
  ],
  [
    'Express: write',
    byExpress((res) => {
      res.type('text/plain').write('a');
      res.end();
    }),
  ],
  ['Koa: a stream', byKoa((ctx) => Object.assign(ctx, { body: streamOf('a', 'b') }))],
  [
    'Fastify: a stream',
    byFastify(async (_req, reply) => reply.header('content-type', 'text/plain').send(streamOf('a', 'b'))),
  ],
  [
    'Fetch: a stream',
    byFetch(() => new Response(Readable.toWeb(streamOf('a', 'b')) as ReadableStream, { headers: PLAIN })),
  ],
  ['Fetch: events', byFetch(() => new Response('data: 1\n\n', { headers: sse }))],
  [
    'Hono: a stream',
    byHono(() => new Response(Readable.toWeb(streamOf('a', 'b')) as ReadableStream, { headers: PLAIN })),
  ],
])('%s: the head names the key, and a question gets the proof, without a body', async (_how, listen) => {
  const { call, ask } = await world(listen);
  const answer = await call();
  expect(judge(answer.headers['ori-answer-proof'], answer.call, answer)).toBe('later');
  const asked = await ask(answer.nonce, '/proof');
  expect([asked.status, asked.body.length]).toEqual([200, 0]);
  expect(judge(asked.headers['ori-answer-proof'], answer.call, answer)).toBe('proven');
  const kept = await ask(answer.nonce);
  expect(judge(kept.headers['ori-answer-proof'], answer.call, kept)).toBe('proven');
});

test.each<[why: string, code: string, options: AnswersOptions, listen: Listen]>([
  ['too large', 'answer_too_large', { bytesMax: 3 }, byNode((res) => res.end('long'))],
  [
    'too large in pieces',
    'answer_too_large',
    { bytesMax: 3 },
    byNode((res) => {
      res.write('lo');
      res.write('ng');
      res.end('er');
    }),
  ],
  ['too large, by Fetch', 'answer_too_large', { bytesMax: 3 }, byFetch(() => new Response('long'))],
  [
    'not to be stored',
    'answer_lost',
    {},
    byNode((res) => res.setHeader('cache-control', 'no-store').end('secret')),
  ],
  [
    'not to be stored, in pieces',
    'answer_lost',
    {},
    byNode((res) => {
      res.setHeader('cache-control', 'no-store').write('sec');
      res.end('ret');
    }),
  ],
  [
    'not to be stored, by Fetch',
    'answer_lost',
    {},
    byFetch(() => {
      const headers = { 'cache-control': 'no-store', ...sse };
      return new Response('secret', { headers });
    }),
  ],
])('of an answer that is %s, the proof is kept alone', async (_why, code, options, listen) => {
  const { call, ask } = await world(listen, options);
  const answer = await call();
  const asked = await ask(answer.nonce, '/proof');
  expect(judge(asked.headers['ori-answer-proof'], answer.call, answer)).toBe('proven');
  const refused = await ask(answer.nonce);
  expect([refused.status, JSON.parse(refused.body.toString()).error.code]).toEqual([410, code]);
  expect(judge(refused.headers['ori-answer-proof'], refused.call, refused)).toBe('proven');
});

test('what a question is answered otherwise is proven for the question, and no refusal is proven', async () => {
  const { ask, port, signer, call } = await world(byNode((res) => res.end('mine')));
  for (const [nonce, part] of [
    ['A'.repeat(22), ''],
    ['B'.repeat(22), '/proof'],
    ['none', ''],
    ['A'.repeat(22), '/proof/x'],
  ] as const) {
    const asked = await ask(nonce, part);
    expect([asked.status, judge(asked.headers['ori-answer-proof'], asked.call, asked)]).toEqual([
      404,
      'proven',
    ]);
  }
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: '{}' }) };
  const refused = await raw(port, PATH, headers, '{ }');
  expect([refused.status, refused.headers['ori-answer-proof']]).toEqual([401, undefined]);
  const answer = await call();
  expect(judge(answer.headers['ori-answer-proof'], 'a'.repeat(64), answer)).toBe('unproven');
});

test('of an answer that breaks off there is no proof, and one that nobody waited for has one', async () => {
  const given = Promise.withResolvers<ServerResponse>();
  const { signer, port, ask, call } = await world(byNode(given.resolve));
  const proof = signer.sign({ path: PATH, body: '{}', user: 'ada' });
  const lines = Object.entries({
    host: 'd',
    'content-type': 'application/json',
    'content-length': '2',
    ...proof,
  });
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(`POST ${PATH} HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n{}`);
  const response = await given.promise;
  socket.destroy();
  response.write('a');
  response.end('b');
  const nonce = String(proof['x-ori-invoke-nonce']);
  const own = await ask(nonce, '/proof');
  expect(readAnswerProof(own.headers['ori-answer-proof'] ?? '')?.signature).toHaveLength(64);
  expect((await ask(nonce)).body.toString()).toBe('ab');
  const broken = await world(
    byNode((res) => {
      res.writeHead(200, PLAIN).write('a');
      setImmediate(() => res.destroy());
    }),
  );
  await expect(broken.call()).rejects.toThrow();
  void call;
});

test('a verifier without a key proves nothing, and gives the proofs that are kept', async () => {
  const { call } = await world(
    byNode((res) => res.end('mine')),
    { key: undefined },
  );
  expect((await call()).headers['ori-answer-proof']).toBeUndefined();
});

test('the key is 32 bytes, or the text of its file, and no error shows it', () => {
  const text = Buffer.from(SEED).toString('base64url');
  for (const key of [SEED, text, `${text}\n`]) expect(keepAnswers({ key })).toBeTypeOf('function');
  for (const key of [SEED.subarray(1), `${text}A`, '', 1, {}, null]) {
    const act = () => keepAnswers({ key: key as never });
    expect(act).toThrow();
    expect(act).not.toThrow(new RegExp(text.slice(0, 20)));
  }
});
