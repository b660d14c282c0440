import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { bodySha256, signingInputV2 } from '@ori/proof';
import { createAnswerKey, readAnswerProof, verifyAnswer } from '@ori/proof/answer-proof';
import { LIMITS } from '@ori/runtime/limits';
import { openGuardWorld } from '@ori/test-env/guard-world';
import { expect, it, onTestFinished, vi } from 'vitest';

const CALL = { path: '/api/invoke', body: '{"prompt":"hello"}', user: 'ada' };

async function lostCall(daemon: Parameters<typeof openGuardWorld>[0]) {
  const world = await openGuardWorld({ env: { GUARD_ANSWERS: 'true' }, ...daemon });
  const request = world.signed(CALL);
  const nonce = /x-ori-invoke-nonce: *(\S+)/i.exec(request)?.[1];
  const path = `/.well-known/ori/calls/${nonce}`;
  return { world, request, ask: () => world.raw(world.signed({ path, body: '', user: 'ada' })) };
}

it('with GUARD_ANSWERS, goes on when the client leaves, and gives the answer again', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const called = vi.fn();
  const { world, request, ask } = await lostCall({
    daemon: async (_req, res) => {
      called();
      await promise;
      res.writeHead(201, { 'x-own': '1' }).end('done');
    },
  });
  await using _ = world;
  const socket = connect(world.port, '127.0.0.1');
  socket.write(request);
  await expect.poll(() => called).toHaveBeenCalled();
  socket.destroy();
  expect(await ask()).toMatchObject({ status: 409, body: expect.stringContaining('call_running') });
  resolve();
  await expect.poll(ask).toMatchObject({ status: 201, body: 'done' });
  expect((await ask()).headers.get('ori-answer')).toBe('kept');
  expect(called).toHaveBeenCalledOnce();
});

it('gives a call whose client left the grace of a stop, and no more', async () => {
  for (const GUARD_SHUTDOWN_GRACE_MS of ['60000', '0']) {
    const called = Promise.withResolvers<ServerResponse>();
    const env = { GUARD_ANSWERS: 'true', GUARD_SHUTDOWN_GRACE_MS };
    const { world, request } = await lostCall({ env, daemon: (_req, res) => called.resolve(res) });
    await using _ = world;
    const socket = connect(world.port, '127.0.0.1');
    socket.write(request);
    const answer = await called.promise;
    const over = once(answer, 'close');
    socket.destroy();
    const stopped = world.guard.stop();
    if (GUARD_SHUTDOWN_GRACE_MS !== '0') {
      await expect.poll(() => fetch(world.guard.url).catch(() => 'stopped')).toBe('stopped');
      answer.end('done');
    }
    await Promise.all([over, stopped]);
    expect(answer.writableFinished).toBe(GUARD_SHUTDOWN_GRACE_MS !== '0');
  }
});

it.each([200_000, 10])('goes on when the client reads nothing of %d bytes, and is cut off', async (bytes) => {
  const { writeTimeoutMs } = LIMITS;
  Object.assign(LIMITS, { writeTimeoutMs: 100 });
  onTestFinished(() => void Object.assign(LIMITS, { writeTimeoutMs }));
  const { world, request, ask } = await lostCall({
    daemon: (_req, res) => void res.end('x'.repeat(bytes)),
  });
  await using _ = world;
  const stall = (message: unknown) => {
    const { server, socket } = message as { server: Server; socket: Socket };
    if ((server.address() as AddressInfo).port !== world.port) return;
    unsubscribe('http.server.request.start', stall);
    // As if the buffers of the system were full.
    Object.assign(socket, { _write: () => {}, _writev: () => {} });
  };
  subscribe('http.server.request.start', stall);
  const socket = connect(world.port, '127.0.0.1');
  socket.write(request);
  await once(socket, 'close');
  await expect.poll(ask).toMatchObject({ status: 200, body: 'x'.repeat(bytes) });
});

it('keeps that the daemon failed', async () => {
  const { world, request, ask } = await lostCall({ daemon: (_req, res) => void res.destroy() });
  await using _ = world;
  expect((await world.raw(request)).status).toBe(502);
  expect(await ask()).toMatchObject({ status: 502, body: expect.stringContaining('daemon_failed') });
});

it.each([
  ['of a known length', { 'content-length': 4 }, true],
  ['of an unknown length', {}, false],
])('with GUARD_ANSWER_KEY, proves an answer %s', async (_what, headers, isInHead) => {
  const seed = Buffer.alloc(32, 7);
  const env = { GUARD_ANSWER_KEY: seed.toString('base64url') };
  const { world, request, ask } = await lostCall({
    env: { GUARD_ANSWERS: 'true', ...env },
    daemon: (_req, res) => void res.writeHead(201, { 'content-type': 'text/plain', ...headers }).end('done'),
  });
  await using _ = world;
  const answer = await world.raw(request);
  const head = readAnswerProof(answer.headers.get('ori-answer-proof') ?? '');
  const { x } = createAnswerKey(seed);
  expect([head?.x, head?.signature !== undefined]).toEqual([x, isInHead]);
  const kept = readAnswerProof((await ask()).headers.get('ori-answer-proof') ?? '');
  const field = (name: string) => new RegExp(`^${name}: *(.*?)\\r?$`, 'im').exec(request)?.[1] ?? '';
  const input = signingInputV2({
    internId: 'int_guarded',
    timestamp: Number(field('x-ori-invoke-timestamp')),
    nonce: field('x-ori-invoke-nonce'),
    user: 'ada',
    method: 'POST',
    path: CALL.path,
    bodySha256: bodySha256(Buffer.from(CALL.body)),
  });
  const proven = { call: bodySha256(input), status: 201, mediaType: 'text/plain', body: Buffer.from('done') };
  expect(verifyAnswer(x, proven, kept?.signature ?? new Uint8Array())).toBe(true);
  if (isInHead) expect(head).toEqual(kept);
});

it('counts a question that the store does not answer', async () => {
  await using world = await openGuardWorld({ env: { GUARD_ANSWERS: 'true' } });
  const path = `/.well-known/ori/calls/${'A'.repeat(22)}`;
  const question = world.signed({ path, body: '' });
  vi.spyOn(Date, 'now').mockImplementation(() => {
    if (new Error().stack?.includes('memory/records.ts')) throw new Error('no clock');
    return performance.timeOrigin + performance.now();
  });
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await world.raw(question)).toMatchObject({ status: 503 });
  const metrics = await (await fetch(`${world.guard.opsUrl}/metrics`)).text();
  expect(metrics).toMatch(/outcome="replay_store_unavailable"\S* 1$/m);
});
