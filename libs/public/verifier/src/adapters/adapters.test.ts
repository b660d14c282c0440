import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { rawClient } from '@ori/test-env/raw-client';
import { ADAPTERS, type Adapter, PATH } from '@ori/test-env/verifier/guarded-daemons';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepAnswers } from '../answers/keep-answers.ts';
import type { KeepAnswers } from '../kept-answers.ts';
import type { KeySet } from '../keys/key-set.ts';
import { createLocalKeySet } from '../keys/local.ts';
import type { ProofReport } from '../outcome.ts';
import type { AnswerStore, ReplayStore } from '../replay/replay-store.ts';
import { createTestReplayStore, createTestSigner, type TestProofOptions } from '../testing/testing.ts';
import { createVerifier } from '../verifier.ts';

const BODY = '{"prompt":"hello"}';
const signer = createTestSigner({ internId: 'int_1' });

const signed = (options: Partial<TestProofOptions> = {}): [string, string][] => [
  ['content-type', 'application/json'],
  ...Object.entries(signer.sign({ path: PATH, body: BODY, ...options })),
];

interface Parts {
  readonly answers?: KeepAnswers;
  readonly keys?: KeySet;
  readonly replay?: ReplayStore;
}

async function world(start: Adapter['start'], { keys, replay, answers }: Parts = {}) {
  const reports: ProofReport[] = [];
  const verifier = createVerifier({
    internId: 'int_1',
    keys: keys ?? createLocalKeySet(signer.jwks),
    replay: replay ?? createTestReplayStore(),
    answers,
    onOutcome: (report) => void reports.push(report),
  });
  const ran = vi.fn<Parameters<Adapter['start']>[1]>();
  const daemon = await start(verifier, ran);
  onTestFinished(() => daemon.stop());
  return { daemon, ran, reports };
}

const { exports: entries } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const adapters = Object.entries<string>(entries).flatMap(([entry, file]) =>
  file.startsWith('./src/adapters/') ? [entry.slice(2)] : [],
);

test('every adapter of the package is tested here, and the README shows it', () => {
  const tested = ADAPTERS.map(({ name }) => /^\w+/.exec(name)?.[0].toLowerCase());
  expect([...new Set(tested)].toSorted()).toEqual(adapters.toSorted());
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  expect(
    adapters.filter((entry) => !new RegExp(`(?:@ori/verifier|examples)/${entry}\\b`).test(readme)),
  ).toEqual([]);
});

for (const { name, start, startBehindParser } of ADAPTERS) {
  test(`${name}: calls the handler with the proof and the signed bytes, once`, async () => {
    const { daemon, ran, reports } = await world(start);
    const headers = signed({ user: 'ada' });
    expect(await daemon.send({ headers, body: BODY })).toMatchObject({ status: 200 });
    expect(await daemon.send({ headers, body: BODY })).toEqual({ status: 401, code: 'nonce_replayed' });
    expect(ran).toHaveBeenCalledTimes(1);
    const [proof, body] = ran.mock.calls[0] ?? [];
    expect(proof).toMatchObject({ user: 'ada', method: 'POST', path: PATH });
    expect(new TextDecoder().decode(body)).toBe(BODY);
    expect(reports.map(({ outcome }) => outcome)).toEqual(['accepted', 'nonce_replayed']);
  });

  test.each([
    ['no proof', { headers: [['content-type', 'application/json']] as const }, 401, 'proof_missing'],
    ['another body', { body: '{"prompt":"other!"}' }, 401, 'signature_invalid'],
    ['an old proof', { headers: signed({ timestamp: 1_789_000_000 }) }, 401, 'proof_expired'],
    ['a query', { target: `${PATH}?a=1` }, 401, 'request_not_coverable'],
    ['a body beyond the limit', { body: 'x'.repeat(1001) }, 413, 'body_too_large'],
    [
      'two media types',
      { headers: [...signed(), ['content-type', 'text/html']] as [string, string][] },
      401,
      'request_not_coverable',
    ],
  ])(`${name}: refuses %s`, async (_what, sent, status, code) => {
    const { daemon, ran, reports } = await world(start);
    expect(await daemon.send({ headers: signed(), body: BODY, ...sent })).toEqual({ status, code });
    expect(ran).not.toHaveBeenCalled();
    expect(reports.map(({ outcome }) => outcome)).toEqual([code]);
  });

  // Fastify answers an empty body of JSON with a 400 of its own.
  test.skipIf(name === 'Fastify')(`${name}: accepts an empty body`, async () => {
    const { daemon, ran } = await world(start);
    expect(await daemon.send({ headers: signed({ body: '' }), body: '' })).toMatchObject({ status: 200 });
    expect(ran).toHaveBeenCalledTimes(1);
  });

  test(`${name}: does not call the handler for a truncated body`, async () => {
    const { daemon, ran, reports } = await world(start);
    const stop = vi.fn<(warning: Error) => void>();
    process.on('warning', stop);
    onTestFinished(() => void process.off('warning', stop));
    await daemon.send({ headers: signed(), body: BODY, cutAfter: 5 });
    await expect.poll(() => reports.map(({ outcome }) => outcome)).toEqual(['aborted']);
    expect(ran).not.toHaveBeenCalled();
    expect(stop).not.toHaveBeenCalled();
  });

  test.each<[string, string, Parts]>([
    ['keys_unavailable', 'a key set', { keys: { current: () => Promise.reject(new Error('broken')) } }],
    [
      'replay_store_unavailable',
      'a replay store',
      { replay: { spend: () => Promise.reject(new Error('broken')) } },
    ],
  ])(`${name}: answers 503 %s when %s fails`, async (code, _what, parts) => {
    const { daemon, ran, reports } = await world(start, parts);
    expect(await daemon.send({ headers: signed(), body: BODY })).toEqual({ status: 503, code });
    expect(ran).not.toHaveBeenCalled();
    expect(reports).toMatchObject([{ outcome: code, error: { cause: expect.any(Error) } }]);
  });

  test.skipIf(startBehindParser === undefined)(`${name}: answers 500 behind a body parser`, async () => {
    const { daemon, ran, reports } = await world(startBehindParser as Adapter['start']);
    expect(await daemon.send({ headers: signed(), body: BODY })).toEqual({
      status: 500,
      code: 'internal_error',
    });
    expect(ran).not.toHaveBeenCalled();
    expect(reports).toMatchObject([{ outcome: 'internal_error', error: expect.any(TypeError) }]);
  });

  test(`${name}: closes a connection on which it would have to wait for a long body, and no other`, async () => {
    const { daemon } = await world(start);
    if (daemon.port === undefined) return;
    const answers = async (length: number) => {
      using client = await rawClient(daemon.port as number);
      client.send(`POST ${PATH} HTTP/1.1\r\nhost: daemon\r\ncontent-length: ${length}\r\n\r\n`);
      return (await client.answer()).headers.get('connection') === 'close' ? 'closes' : 'stays';
    };
    expect([await answers(1000), await answers(1001)]).toEqual(['stays', 'closes']);
  });

  test(`${name}: gives a lost answer again, also if the client left before it`, async () => {
    const { daemon, ran } = await world(start, { answers: keepAnswers() });
    const { promise, resolve } = Promise.withResolvers<void>();
    ran.mockReturnValue(promise);
    const headers = signed({ user: 'ada' });
    const nonce = headers.find(([key]) => key === 'x-ori-invoke-nonce')?.[1];
    const target = `/.well-known/ori/calls/${nonce}`;
    const ask = () =>
      daemon.send({ target, headers: signed({ path: target, body: '', user: 'ada' }), body: '' });
    if (daemon.port === undefined) void daemon.send({ headers, body: BODY });
    else {
      const socket = connect(daemon.port, '127.0.0.1').on('error', () => undefined);
      const lines = [['host', 'd'], ['content-length', `${BODY.length}`], ...headers];
      const head = lines.map((line) => line.join(': ')).join('\r\n');
      socket.write(`POST ${PATH} HTTP/1.1\r\n${head}\r\n\r\n${BODY}`);
      await expect.poll(() => ran).toHaveBeenCalled();
      socket.destroy();
    }
    expect(await ask()).toEqual({ status: 409, code: 'call_running' });
    resolve();
    await expect.poll(ask).toEqual({ status: 200, code: undefined });
    expect(ran).toHaveBeenCalledOnce();
  });

  const keepsError = /^(?:Express|Fastify|Koa)/.test(name);
  test(`${name}: ${keepsError ? 'keeps what the framework' : 'loses what it'} answers to an error of the handler`, async () => {
    const { daemon, ran } = await world(start, { answers: keepAnswers() });
    ran.mockRejectedValue(new Error('mine'));
    const headers = signed();
    const answer = await daemon.send({ headers, body: BODY }).catch(() => undefined);
    const target = `/.well-known/ori/calls/${headers.find(([key]) => key === 'x-ori-invoke-nonce')?.[1]}`;
    const question = { target, headers: signed({ path: target, body: '' }), body: '' };
    expect((await daemon.send(question)).status).toBe(keepsError ? answer?.status : 410);
  });

  test(`${name}: adds no media type to a kept answer`, async () => {
    const replay = createTestReplayStore();
    const kept = { status: 201, headers: {}, body: Buffer.from('kept') };
    vi.spyOn(replay.answers as AnswerStore, 'ask').mockResolvedValue(kept);
    const { daemon } = await world(start, { answers: keepAnswers(), replay });
    if (daemon.port === undefined) return;
    const path = `/.well-known/ori/calls/${'A'.repeat(22)}`;
    const url = `http://127.0.0.1:${daemon.port}${path}`;
    const answer = await fetch(url, { method: 'POST', headers: signed({ path, body: '' }), body: '' });
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      201,
      null,
      'kept',
    ]);
  });

  test(`${name}: reports a kept answer that cannot be given, and refuses the question`, async () => {
    const replay = createTestReplayStore();
    const kept = { status: 201, headers: { 'x y': 'z' }, body: Buffer.from('kept') };
    vi.spyOn(replay.answers as AnswerStore, 'ask').mockResolvedValue(kept);
    const { daemon, reports } = await world(start, { answers: keepAnswers(), replay });
    const target = `/.well-known/ori/calls/${'A'.repeat(22)}`;
    const answer = await daemon.send({ target, headers: signed({ path: target, body: '' }), body: '' });
    expect(answer).toEqual({ status: 503, code: 'replay_store_unavailable' });
    expect(reports).toMatchObject([{ outcome: 'accepted' }, { outcome: 'replay_store_unavailable' }]);
  });

  test(`${name}: refuses unknown options`, async () => {
    const misspelt = { bodyBytesMax: 1000, diagnos: true, [randomUUID()]: 1 };
    const verifier = createVerifier({
      internId: 'int_1',
      keys: createLocalKeySet(signer.jwks),
      replay: createTestReplayStore(),
    });
    const { guardWith } = ADAPTERS.find((adapter) => adapter.name === name) as Adapter;
    for (const options of [misspelt, undefined, {}, { bodyBytesMax: -1 }, { bodyBytesMax: '1mb' }]) {
      expect(() => guardWith(verifier, options as never)).toThrow(TypeError);
    }
    expect(() => guardWith(verifier, { bodyBytesMax: 0 })).not.toThrow();
    expect(() => guardWith(undefined as never, { bodyBytesMax: 1000 })).toThrow(TypeError);
  });
}
