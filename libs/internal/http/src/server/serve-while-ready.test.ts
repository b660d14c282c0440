import { createLogger } from '@ori/runtime/log';
import { rawClient } from '@ori/test-env/raw-client';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { serveWhileReady } from './serve-while-ready.ts';
import { startApiServer } from './server.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const log = createLogger({ service: 'test', level: 'silent' });

async function world() {
  const verdicts: Record<string, string> = { audit: 'ok', redis: 'ok' };
  const asked: (readonly string[])[] = [];
  const registry = new Registry();
  const ops = {
    causes: () => ({}),
    async verdicts(names: readonly string[] = Object.keys(verdicts)) {
      asked.push(names);
      return Object.fromEntries(Object.entries(verdicts).filter(([name]) => names.includes(name)));
    },
  };
  const start = () =>
    startApiServer({
      app: (_req, res) => void res.end('ok'),
      host: '127.0.0.1',
      port: 0,
      deadlineMs: 10_000,
    });
  const serving = await serveWhileReady(start, { ops, log, registry, own: ['audit'] });
  const { api } = serving;
  const isListening = async () =>
    /^ori_service_listening 1$/m.test(await registry.metrics()) && api.server.listening;
  return {
    api,
    verdicts,
    asked,
    serving,
    isListening,
    async [Symbol.asyncDispose]() {
      serving.close();
      await api.stop({ graceMs: 0 });
    },
  };
}

test('refuses connections while a local check fails, and accepts them again on the same port', async () => {
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

test('looks within a second, without a request', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  await using service = await world();
  service.verdicts['audit'] = 'failing: ENOSPC';
  vi.advanceTimersByTime(999);
  vi.useRealTimers();
  await expect.poll(service.isListening).toBe(false);
});

test('keeps listening without what all instances share, and does not ask for it', async () => {
  await using service = await world();
  const { verdicts, serving, isListening, asked } = service;
  verdicts['redis'] = 'failing: timeout';
  const before = asked.length;
  serving.look();
  await expect.poll(() => asked.length).toBeGreaterThan(before);
  expect(asked.at(-1)).toEqual(['audit']);
  expect(await isListening()).toBe(true);
});

test('starts to listen once every check succeeds', async () => {
  let looks = 0;
  const verdicts = async () => ({ redis: 'ok', issuer: ++looks < 3 ? 'failing: timeout' : 'ok' });
  const start = async () => ({ withdraw: async () => {}, offer: async () => {} });
  const registry = new Registry();
  const started = serveWhileReady(start, { ops: { verdicts, causes: () => ({}) }, log, registry });
  expect(await registry.metrics()).toContain('ori_service_listening 0');
  const serving = await started;
  serving.close();
  expect(looks).toBe(3);
  expect(await registry.metrics()).toContain('ori_service_listening 1');
});

test('repeats what it waits for, and why, while nothing changes', async () => {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const told = createLogger({ service: 'test', level: 'info', destination });
  const verdicts = async () => ({ redis: lines.length < 3 ? 'failing: refused' : 'ok' });
  const causes = () => ({ redis: 'the password is wrong' });
  const start = async () => ({ withdraw: async () => {}, offer: async () => {} });
  const options = { ops: { verdicts, causes }, log: told, registry: new Registry(), repeatEveryMs: 1 };
  const serving = await serveWhileReady(start, options);
  serving.close();
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    expect(line).toMatchObject({ failing: { redis: 'failing: refused' }, causes: causes() });
  }
});
