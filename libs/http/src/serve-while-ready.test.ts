import { createLogger } from '@ori/runtime/log';
import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { type ServingOptions, serveWhileReady } from './serve-while-ready.ts';
import { startApiServer } from './server.ts';
import { rawClient } from './testing/raw-client.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const log = createLogger({ service: 'test', level: 'silent' });

async function world(options: Partial<ServingOptions> = {}) {
  const verdicts: Record<string, string> = {};
  const registry = new Registry();
  const ops = { verdicts: async () => ({ ...verdicts }) };
  const start = () =>
    startApiServer({
      app: (_req, res) => void res.end('ok'),
      ...{ host: '127.0.0.1', port: 0, deadlineMs: 10_000 },
    });
  const serving = await serveWhileReady(start, { ops, log, registry, own: ['audit'], ...options });
  const { api } = serving;
  const isListening = async () =>
    /^ori_service_listening 1$/m.test(await registry.metrics()) && api.server.listening;
  return {
    ...{ api, verdicts, serving, isListening },
    async [Symbol.asyncDispose]() {
      serving.close();
      await api.stop({ graceMs: 0 });
    },
  };
}

test('refuses connections while a check of its own fails, and accepts them again on the same port', async () => {
  await using service = await world();
  const { api, verdicts, serving, isListening } = service;
  using idle = await rawClient(api.port);
  idle.send(GET);
  expect((await idle.answer()).status).toBe(200);
  verdicts['audit'] = 'failing: ENOSPC';
  serving.look();
  await expect.poll(() => api.server.listening).toBe(false);
  expect(await isListening()).toBe(false);
  await idle.closed();
  await expect(rawClient(api.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  verdicts['audit'] = 'ok';
  serving.look();
  await expect.poll(isListening).toBe(true);
  using back = await rawClient(api.port);
  back.send(GET);
  const { status, headers } = await back.answer();
  expect([status, headers.get('connection')]).toEqual([200, 'keep-alive']);
});

test('keeps listening while what every instance shares fails for a moment, and refuses when it lasts', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  try {
    await using service = await world();
    const { verdicts, isListening } = service;
    verdicts['redis'] = 'failing: timeout';
    await vi.advanceTimersByTimeAsync(4900);
    expect(await isListening()).toBe(true);
    verdicts['redis'] = 'ok';
    await vi.advanceTimersByTimeAsync(500);
    verdicts['redis'] = 'failing: timeout';
    await vi.advanceTimersByTimeAsync(4900);
    expect(await isListening()).toBe(true);
    await vi.advanceTimersByTimeAsync(1000);
    await expect.poll(isListening).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test('keeps listening without what counts at the start only', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  try {
    await using service = await world({ atStart: ['issuer'] });
    service.verdicts['issuer'] = 'failing: timeout';
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await service.isListening()).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('starts to listen once every check succeeds', async () => {
  let looks = 0;
  const verdicts = async () => ({ redis: 'ok', issuer: ++looks < 3 ? 'failing: timeout' : 'ok' });
  const start = async () => ({ withdraw: async () => {}, offer: async () => {} });
  const registry = new Registry();
  const started = serveWhileReady(start, { ops: { verdicts }, log, registry });
  expect(await registry.metrics()).toContain('ori_service_listening 0');
  const serving = await started;
  serving.close();
  expect(looks).toBe(3);
  expect(await registry.metrics()).toContain('ori_service_listening 1');
});
