import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UnavailableError } from '@ori/proof/wire';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { openVerifier } from '@ori/test-env/verifier/open-verifier';
import Koa from 'koa';
import { expect, test, vi } from 'vitest';
import { requireProof as requireProofInKoa } from '../adapters/koa.ts';
import { type Proven, requireProof } from '../adapters/node.ts';
import { createLocalKeySet } from '../keys/local.ts';
import { memoryReplayStore } from '../replay/memory/store.ts';
import type { AnswerStore } from '../replay/replay-store.ts';
import { createTestReplayStore, createTestSigner } from '../testing/testing.ts';
import { createVerifier } from '../verifier.ts';
import { keepAnswers } from './keep-answers.ts';

const PATH = '/api/invoke';
const BODY = '{"prompt":"hello"}';

type Handler = (request: IncomingMessage, response: ServerResponse, proven: Proven) => unknown;

async function world(
  handler: Handler,
  { answers = keepAnswers(), replay = createTestReplayStore(), isKoa = false } = {},
) {
  const { signer, verifier } = openVerifier({ replay, answers });
  const ran = vi.fn(handler);
  const options = { bodyBytesMax: 1000 };
  const guarded = isKoa
    ? Object.assign(new Koa(), { silent: true })
        .use(requireProofInKoa(verifier, options, (ctx, proven) => ran(ctx.req, ctx as never, proven)))
        .callback()
    : requireProof(verifier, options, ran);
  const { server, port, url } = await serveInTest(createServer(guarded));
  const send = (path: string, body: string, proof: object) =>
    fetch(url + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...proof },
    });
  const proof = signer.sign({ path: PATH, body: BODY, user: 'ada' });
  const nonce = proof['x-ori-invoke-nonce'] ?? '';
  return {
    ran,
    server,
    nonce,
    call: (given = proof) => send(PATH, BODY, given),
    ask: (user = 'ada', about = nonce) => {
      const path = `/.well-known/ori/calls/${about}`;
      return send(path, '', signer.sign({ path, body: '', user }));
    },
    /** Sends the call and disconnects as soon as the handler runs. */
    async lose({ isHalf = false } = {}) {
      const lines = Object.entries({ host: 'd', 'content-type': 'application/json', ...proof });
      const head = lines.map((pair) => pair.join(': ')).join('\r\n');
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.write(`POST ${PATH} HTTP/1.1\r\n${head}\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`);
      await expect.poll(() => ran).toHaveBeenCalled();
      const [, response] = ran.mock.lastCall ?? [];
      // Not `once` of node:events, which rejects at the reset that may come first.
      const left = new Promise((resolve) => (response?.socket ?? socket).once('close', resolve));
      if (isHalf) socket.end();
      else socket.destroy();
      await left;
    },
  };
}

const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
};

// SPEC.md N14, N16, A1.
test('gives the answer of a call again, with its status and headers, and runs it once', async () => {
  const { call, ask, ran } = await world((_request, response) => {
    response.setHeader('x-own', '1');
    response.setHeader('set-cookie', 'session=secret');
    response.writeHead(201, { Location: '/orders/7' });
    response.write('{"done":');
    response.end('true}');
  });
  const first = await call();
  expect(first.headers.get('ori-answer')).toBe('recorded');
  await first.text();
  const kept = await ask();
  expect([kept.status, await kept.text()]).toEqual([201, '{"done":true}']);
  expect(Object.fromEntries(kept.headers)).toMatchObject({
    'ori-answer': 'kept',
    location: '/orders/7',
    'x-own': '1',
  });
  expect(kept.headers.get('set-cookie')).toBeNull();
  expect(ran).toHaveBeenCalledOnce();
});

// SPEC.md N17.
test('keeps the answer for a client that disconnects while the handler runs', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const closed = vi.fn();
  const { lose, ask } = await world(async (_request, response) => {
    response.on('close', closed);
    await promise;
    response.end('late');
  });
  await lose();
  expect(await codeOf(await ask())).toEqual([409, 'call_running']);
  expect(closed).not.toHaveBeenCalled();
  resolve();
  await expect.poll(async () => (await ask()).text()).toBe('late');
  expect(closed).toHaveBeenCalledOnce();
});

test('keeps an answer of a known length for a client that disconnects in the middle of it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { lose, ask } = await world(async (_request, response) => {
    response.writeHead(200, { 'content-length': '4' }).write('la');
    await promise;
    response.end('te');
  });
  await lose();
  resolve();
  await expect.poll(async () => (await ask()).text()).toBe('late');
});

// Koa ends its streams by on-finished, which listens to the socket.
test.each([
  ['Koa', true],
  ['pipeline', false],
])('keeps the stream of %s, whose client disconnects in the middle of it', async (_name, isKoa) => {
  const body = new PassThrough();
  body.write('la');
  const piped = vi.fn();
  const { lose, ask } = await world(
    async (_request, response) => {
      if (isKoa) Object.assign(response, { body });
      else await pipeline(body, response).then(piped);
    },
    { isKoa },
  );
  await lose();
  body.end('te');
  await vi.waitFor(async () => expect(await (await ask()).text()).toBe('late'));
  expect(piped).toHaveBeenCalledTimes(isKoa ? 0 : 1);
});

// Until that is closed, Koa gives an empty answer, and Express none.
test('keeps the answer for a client that ends the connection while the handler runs', async () => {
  const { lose, ask } = await world(
    async (request, response) => {
      await once(request.socket, 'end');
      Object.assign(response, { body: 'late' });
    },
    { isKoa: true },
  );
  await lose({ isHalf: true });
  await expect.poll(async () => (await ask()).text()).toBe('late');
});

// SPEC.md N19, N20.
test('voids a call that did not arrive, also if the question is asked twice', async () => {
  const { call, ask, ran } = await world((_request, response) => response.end());
  expect(await codeOf(await ask())).toEqual([404, 'call_not_received']);
  expect(await codeOf(await call())).toEqual([401, 'nonce_replayed']);
  expect(await codeOf(await ask())).toEqual([404, 'call_not_received']);
  expect(ran).not.toHaveBeenCalled();
});

// SPEC.md N21.
test('tells another person nothing, and voids nothing of theirs', async () => {
  const { call, ask } = await world((_request, response) => response.end('mine'));
  await call();
  const unknown = await (await ask('mallory', 'A'.repeat(22))).text();
  const others = await ask('mallory');
  expect([others.status, await others.text()]).toEqual([404, unknown]);
  expect(await (await ask()).text()).toBe('mine');
});

test('does not say that a call was not received if it may have run before a restart', async () => {
  let nowMs = Date.now() - 60_000;
  const replay = memoryReplayStore({ now: () => nowMs });
  nowMs = Date.now();
  const { call, ask } = await world((_request, response) => response.end(), { replay });
  expect(await codeOf(await ask())).toEqual([410, 'answer_lost']);
  expect(await codeOf(await call())).toEqual([401, 'nonce_replayed']);
  expect(await codeOf(await ask())).toEqual([410, 'answer_lost']);
});

// SPEC.md N18.
test.each<[string, Handler, number, string]>([
  ['too large', (_request, response) => response.end('x'.repeat(11)), 410, 'answer_too_large'],
  [
    'not to be stored',
    (_q, response) => response.setHeader('cache-control', 'private, no-store').end(),
    410,
    'answer_lost',
  ],
  ['an error of the handler', () => Promise.reject(new Error('mine')), 410, 'answer_lost'],
  ['broken off', (_request, response) => response.destroy(), 410, 'answer_lost'],
])('says so of an answer that is %s', async (_name, handler, status, code) => {
  const { call, ask } = await world(handler, { answers: keepAnswers({ bytesMax: 10 }) });
  await call().catch(() => undefined);
  expect(await codeOf(await ask())).toEqual([status, code]);
});

test.each([
  [262_144, 200],
  [262_145, 410],
])('keeps an answer of at most 256 KiB, unless told otherwise: %d bytes', async (bytes, status) => {
  const { call, ask } = await world((_request, response) => response.end('x'.repeat(bytes)));
  await call();
  expect((await ask()).status).toBe(status);
});

test.each([
  ['before it answers is that of Koa', false, [500, 'Internal Server Error']],
  ['in the middle of it is lost at once', true, [410, expect.stringContaining('answer_lost')]],
])('Koa: the answer of a handler that throws %s', async (_when, isBegun, expected) => {
  const { lose, ask } = await world(
    (_request, context) => {
      if (isBegun) (context as unknown as Koa.Context).res.write('half of');
      throw new Error('mine');
    },
    { isKoa: true },
  );
  await lose();
  await expect.poll(async () => (await ask()).status).not.toBe(409);
  const kept = await ask();
  expect([kept.status, await kept.text()]).toEqual(expected);
});

test('keeps an answer that no cache may store only if asked to', async () => {
  const handler: Handler = (_q, response) => response.setHeader('cache-control', 'no-store').end('mine');
  const { call, ask } = await world(handler, { answers: keepAnswers({ noStore: true }) });
  await call();
  const kept = await ask();
  expect([kept.status, kept.headers.get('cache-control'), await kept.text()]).toEqual([
    200,
    'no-store',
    'mine',
  ]);
});

// SPEC.md N22.
test('keeps no answers for a verifier that accepts version 1, or with a store that cannot', () => {
  const keys = createLocalKeySet(createTestSigner({ internId: 'int_1' }).jwks);
  const options = { internId: 'int_1', keys, answers: keepAnswers() };
  const replay = createTestReplayStore();
  expect(() => createVerifier({ ...options, replay, acceptV1: true })).toThrow(/answers: .*acceptV1/);
  expect(() => createVerifier({ ...options, replay: { spend: () => 'spent' } })).toThrow(/cannot keep them/);
  for (const wrong of [{ bytesMax: -1 }, { bytesMax: 0.5 }, { noStore: 'yes' }, { bytes: 1 }])
    expect(() => keepAnswers(wrong as never)).toThrow(TypeError);
  for (const answers of [true, {}])
    expect(() => createVerifier({ ...options, replay, answers: answers as never })).toThrow(/keepAnswers/);
  const answers = keepAnswers({ bytesMax: 0 });
  expect(() => createVerifier({ ...options, replay, answers })).not.toThrow();
});

test.each([
  [new Error('mine'), 'replay_store_unavailable'],
  [new UnavailableError('replay_store_full', 'full'), 'replay_store_full'],
])('does not answer a question if the store fails with %o', async (failure, code) => {
  const replay = createTestReplayStore();
  vi.spyOn(replay.answers as AnswerStore, 'ask').mockRejectedValueOnce(failure);
  const { ask } = await world((_request, response) => response.end(), { replay });
  expect(await codeOf(await ask())).toEqual([503, code]);
});

test.each([
  undefined,
  'spent',
  'toString',
  { headers: {}, body: new Uint8Array() },
  { status: 199, headers: {}, body: new Uint8Array() },
  { status: 1000, headers: {}, body: new Uint8Array() },
  { status: 200, headers: {}, body: 'text' },
  { status: 200.5, headers: {}, body: new Uint8Array() },
  { status: 200, headers: null, body: new Uint8Array() },
  { status: 200, headers: { 'x-own': 1 }, body: new Uint8Array() },
  { status: 200, headers: { '': 'own' }, body: new Uint8Array() },
  { status: 200, headers: { 'x-own': 'a\r\nb' }, body: new Uint8Array() },
  { status: 200, headers: { 'x-own': '\u0100' }, body: new Uint8Array() },
])('does not answer a question if the store says %o', async (said) => {
  const replay = createTestReplayStore();
  vi.spyOn(replay.answers as AnswerStore, 'ask').mockResolvedValueOnce(said as never);
  const { ask } = await world((_request, response) => response.end(), { replay });
  expect(await codeOf(await ask())).toEqual([503, 'replay_store_unavailable']);
});

test('asks no store about what cannot be a nonce', async () => {
  const replay = createTestReplayStore();
  const asked = vi.spyOn(replay.answers as AnswerStore, 'ask');
  const { ask } = await world((_request, response) => response.end(), { replay });
  expect(await codeOf(await ask('ada', 'short'))).toEqual([404, 'call_not_received']);
  expect(asked).not.toHaveBeenCalled();
});

test('keeps an answer that the store refused at first', async () => {
  const replay = createTestReplayStore();
  const keep = vi.spyOn(replay.answers as AnswerStore, 'keep').mockRejectedValueOnce(new Error('down'));
  const { call, ask } = await world((_request, response) => response.end('mine'), { replay });
  await call();
  expect((await codeOf(await ask()))[1]).toBe('call_running');
  await expect.poll(async () => (await ask()).text()).toBe('mine');
  expect(keep).toHaveBeenCalledTimes(2);
});
