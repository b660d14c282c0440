import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, createServer } from 'node:http2';
import { type AddressInfo, Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { CallEnd } from '../replay/replay-store.ts';
import { recordAnswer } from './record-node.ts';
import { Recorder } from './recorder.ts';

afterEach(() => void vi.useRealTimers());

/** A response whose client is gone or is to go, and what was recorded of it. */
function record({ bytesMax = 100, isGone = false, before = (_response: ServerResponse): void => {} } = {}) {
  const settle = vi.fn<(end: CallEnd) => void>();
  const recorder = new Recorder({ bytesMax, noStore: false }, settle);
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const closed = vi.fn();
  const drained = vi.fn();
  response.on('close', closed).on('drain', drained);
  const disconnect = () => {
    response.destroyed = true;
    response.emit('close');
  };
  if (isGone) response.destroyed = true;
  before(response);
  recordAnswer(response, recorder);
  return { response, closed, drained, disconnect, settle, end: () => textOf(settle.mock.lastCall?.[0]) };
}

const textOf = (end: CallEnd | undefined) =>
  typeof end === 'object' ? { ...end, body: Buffer.from(end.body).toString('latin1') } : end;
const ticks = () => new Promise((resolve) => setImmediate(resolve));

test.each<[string, BufferEncoding]>([
  ['\u20ac'.repeat(9000), 'utf8'],
  ['\xff'.repeat(20_000), 'latin1'],
  ['A'.repeat(40_000), 'base64'],
])(
  'a long text is sent as the bytes that are recorded, and reaches middleware as a text',
  (text, encoding) => {
    const write = vi.spyOn(ServerResponse.prototype, 'write');
    onTestFinished(() => write.mockRestore());
    for (const before of [
      () => {},
      (own: ServerResponse) => Object.assign(own, { write: own.write.bind(own) }),
    ]) {
      const { response, end } = record({ bytesMax: 100_000, before });
      response.write(text, encoding);
      response.end();
      expect(end()).toMatchObject({ body: Buffer.from(text, encoding).toString('latin1') });
    }
    expect(write.mock.calls.map(([chunk]) => typeof chunk)).toEqual(['object', 'string']);
  },
);

test.each<[how: string, write: (response: ServerResponse) => unknown, headers: Record<string, string>]>([
  [
    'an object',
    (response) => response.writeHead(201, { 'X-A': 1, 'x-b': ['1', '2'] }),
    { 'x-a': '1', 'x-b': '1, 2' },
  ],
  ['a reason and an object', (response) => response.writeHead(201, 'Made', { 'X-A': '1' }), { 'x-a': '1' }],
  ['a reason alone', (response) => response.writeHead(201, 'Made'), {}],
  ['nothing', (response) => response.writeHead(201), {}],
  ['null', (response) => response.writeHead(201, null as never), {}],
  [
    'an object and nothing',
    (response) => response.writeHead(201, { 'x-a': '1' } as never, undefined),
    { 'x-a': '1' },
  ],
  ['an object that inherits', (response) => response.writeHead(201, Object.create({ 'x-a': '1' })), {}],
  [
    'a list',
    (response) => response.writeHead(201, ['X-A', '1', 'X-B', '2', 'x-a', '3'] as never),
    { 'x-a': '1, 3', 'x-b': '2' },
  ],
  [
    'a list of lists',
    (response) => response.writeHead(201, ['x-a', ['1', '2'], 'x-b', '3'] as never),
    { 'x-a': '1, 2', 'x-b': '3' },
  ],
  [
    'a list of pairs',
    (response) =>
      response.writeHead(201, [
        ['x-a', '1'],
        ['x-b', ['2', '3']],
      ] as never),
    { 'x-a': '1', 'x-b': '2, 3' },
  ],
  [
    'setHeader',
    (response) => response.setHeader('X-A', ['1', '2']).writeHead(201, { 'X-B': 'b' }),
    { 'x-a': '1, 2', 'x-b': 'b' },
  ],
])('records headers given by %s', (_how, write, headers) => {
  const { response, end } = record();
  write(response);
  response.end();
  expect(end()).toEqual({ status: 201, headers, body: '' });
});

test('records headers once: those before the first byte', () => {
  const { response, end } = record();
  response.statusCode = 202;
  response.setHeader('x-a', '1');
  response.write('a');
  response.statusCode = 500;
  response.end();
  expect(end()).toEqual({ status: 202, headers: { 'x-a': '1' }, body: 'a' });
});

test.each<[how: string, fail: (response: ServerResponse) => unknown]>([
  ['a header', (response) => response.writeHead(201, { 'x-a': '€' })],
  ['a status', (response) => response.writeHead(1)],
  ['a chunk', (response) => response.setHeader('x-a', '1').write(1 as never)],
  ['a last chunk', (response) => response.setHeader('x-a', '1').end(1 as never)],
  ['an encoding', (response) => response.setHeader('x-a', '1').end('yes', 'none' as never)],
  [
    'a chunk that no cache may store',
    (response) => response.setHeader('Cache-Control', 'no-store').write(1 as never),
  ],
])('records what is answered in place of %s that is refused', (_how, fail) => {
  for (const isGone of [false, true]) {
    const { response, end } = record({ isGone });
    expect(() => fail(response)).toThrow();
    expect(response.headersSent).toBe(false);
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.writeHead(500, { 'x-b': 'b' }).end('no');
    expect(end()).toEqual({ status: 500, headers: { 'x-b': 'b' }, body: 'no' });
  }
});

test.each([204, 304])('records no body of an answer with status %i, as Node sends none', (status) => {
  const { response, end } = record({ bytesMax: 3 });
  response.writeHead(status).write('done');
  response.end('done');
  expect(end()).toEqual({ status, headers: {}, body: '' });
});

test('records what middleware behind adds to the head, and not what middleware in front does', () => {
  const add = (response: ServerResponse, name: string) => {
    const { writeHead } = response;
    response.writeHead = function (this: ServerResponse, ...args: never) {
      return Reflect.apply(writeHead, this.setHeader(name, '1'), args);
    } as never;
  };
  const { response, end } = record({ before: (made) => add(made, 'x-front') });
  add(response, 'x-behind');
  response.end();
  expect(end()).toMatchObject({ headers: { 'x-behind': '1' } });
  expect(response.getHeader('x-front')).toBe('1');
});

test('records text in its encoding, bytes, and what the buffer held at the time', () => {
  const { response, end, settle } = record();
  const buffer = Buffer.from('b');
  response.write('\xff', 'latin1');
  response.write(buffer);
  buffer.fill('x');
  response.write('\xe9');
  response.end('ZQ==', 'base64');
  response.end();
  expect(end()).toMatchObject({ body: '\xffb\xc3\xa9e' });
  expect(settle).toHaveBeenCalledOnce();
});

test.each([
  ['goes', false],
  ['was gone before', true],
])('the handler of a client that %s goes on, and is told at the end', async (_name, isGone) => {
  const { response, closed, drained, disconnect, end } = record({ isGone, bytesMax: 200_000 });
  if (!isGone) disconnect();
  expect(response.destroyed).toBe(false);
  await ticks();
  expect([closed.mock.calls, drained.mock.calls]).toEqual([[], [[]]]);
  const told = [vi.fn(), vi.fn(), vi.fn(), vi.fn(), closed];
  const [hinted, wrote, ended, finished] = told;
  response.on('finish', finished as never).socket?.setTimeout(1000);
  response.writeEarlyHints({ link: '</a>; rel=preload' }, hinted);
  expect(response.write('do'.repeat(50_000), 'utf8', wrote)).toBe(true);
  expect(response.writableNeedDrain).toBe(false);
  response.end('ne', ended);
  await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  expect(end()).toMatchObject({ status: 200, body: `${'do'.repeat(50_000)}ne` });
  expect(response.writableFinished).toBe(true);
  expect(told.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1, 1, 1]);
  expect(response.destroyed).toBe(true);
});

test('the signal of the request tells it when the response does', async () => {
  const { response, disconnect } = record();
  const { signal } = response.req as { signal?: AbortSignal };
  response.req.socket.destroy();
  disconnect();
  await ticks();
  expect(signal?.aborted).not.toBe(true);
  response.end();
  await ticks();
  expect(signal?.aborted).not.toBe(false);
});

test('the handler of a client that left is told as soon as there is nothing more to record', async () => {
  const tooLarge = record({ bytesMax: 3 });
  tooLarge.disconnect();
  tooLarge.response.write('do');
  await ticks();
  expect(tooLarge.closed).not.toHaveBeenCalled();
  tooLarge.response.write('ne');
  await ticks();
  expect([tooLarge.end(), tooLarge.closed.mock.calls.length]).toEqual(['too_large', 1]);

  const before = record({ bytesMax: 3 });
  before.response.write('done');
  before.disconnect();
  await ticks();
  expect(before.closed).toHaveBeenCalledOnce();
});

test('an answer that the handler breaks off is lost', () => {
  const { response, end } = record();
  response.write('do');
  expect(response.destroy()).toBe(response);
  expect([end(), response.destroyed]).toEqual(['lost', true]);
});

test('also after the client left; the handler is then told once', async () => {
  const { response, closed, end } = record({ isGone: true });
  response.destroy();
  await ticks();
  expect([end(), response.destroyed, closed.mock.calls.length]).toEqual(['lost', true, 1]);
});

test('waits ten minutes for a handler whose client left', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { closed, disconnect, end } = record();
  disconnect();
  vi.advanceTimersByTime(599_999);
  await ticks();
  expect([end(), closed.mock.calls.length]).toEqual([undefined, 0]);
  vi.advanceTimersByTime(1);
  await ticks();
  expect([end(), closed.mock.calls.length]).toEqual(['lost', 1]);
});

test('leaves no timer behind, and tells no listener that the client left', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const over of ['end', 'destroy'] as const) {
    const { response } = record();
    expect(response.emit('close')).toBe(false);
    expect(vi.getTimerCount()).toBe(1);
    response[over]();
    expect(vi.getTimerCount()).toBe(0);
  }
});

test.each([
  ['ends', 'object'],
  ['does not end', 'string'],
])(
  'the answer of a handler that %s after its client left over HTTP/2 is no longer open after ten minutes',
  async (how, end) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    client.request({ ':method': 'POST' }).on('error', () => undefined);
    const [, response] = await once(server, 'request');
    vi.useFakeTimers();
    const settle = vi.fn<(end: CallEnd) => void>();
    recordAnswer(response, new Recorder({ bytesMax: 100, noStore: false }, settle));
    const closed = once(response, 'close');
    client.destroy();
    await closed;
    if (how === 'ends') response.end('x');
    vi.advanceTimersByTime(599_999);
    expect(settle).toHaveBeenCalledTimes(how === 'ends' ? 1 : 0);
    vi.advanceTimersByTime(1);
    expect(typeof settle.mock.lastCall?.[0]).toBe(end);
    expect(settle).toHaveBeenCalledOnce();
    server.close();
  },
);

test('only an answer that is kept counts as written', () => {
  const { response } = record();
  response.write('do');
  response.destroy();
  response.emit('close');
  expect(response.writableFinished).toBe(false);

  const kept = record();
  kept.response.end('x');
  expect(kept.response.writableFinished).toBe(false);
  kept.disconnect();
  expect(kept.response.writableFinished).toBe(true);
});

test('records what the handler gave, not what middleware in front makes of it', () => {
  const front = (made: ServerResponse) => {
    const { end } = made;
    made.end = function (this: ServerResponse, chunk: string) {
      this.setHeader('x-front', '1').write(chunk);
      return Reflect.apply(end, this, []);
    } as never;
  };
  const { response, end } = record({ before: front });
  response.end('x');
  expect(end()).toEqual({ status: 200, headers: {}, body: 'x' });
});

test('records a response that knows no request', () => {
  const { response, disconnect, end } = record({
    before: (made) => Object.defineProperty(made, 'req', { value: undefined }),
  });
  disconnect();
  response.end('x');
  response.emit('close');
  expect(end()).toMatchObject({ body: 'x' });
});

test('tells those who wait by on-finished, before and behind, once and at the end', () => {
  const [before, behind] = [vi.fn(), vi.fn()];
  const waiting = (response: ServerResponse) =>
    (response as { __onFinished?: { queue: unknown[] | null } }).__onFinished;
  const first = { queue: [before] as unknown[] | null };
  const { response, disconnect } = record({
    before: (made) => Object.assign(made, { __onFinished: first }),
  });
  expect(first.queue).toBeNull();
  waiting(response)?.queue?.push(behind);
  disconnect();
  response.emit('pause');
  expect([before.mock.calls, behind.mock.calls]).toEqual([[], []]);
  response.end();
  response.emit('finish');
  response.emit('close');
  expect([before.mock.calls, behind.mock.calls]).toEqual([[[null, response]], [[null, response]]]);
});

test('what ends while the client is there destroys nothing and tells no signal', () => {
  const { response } = record();
  const { signal } = response.req as { signal?: AbortSignal };
  response.end();
  response.emit('finish');
  expect(response.destroyed).toBe(false);
  response.emit('close');
  expect(signal?.aborted).not.toBe(true);
});

test('a connection is watched once: a client that may still read is not gone, one that may not is', () => {
  const socket = new Socket({ allowHalfOpen: true });
  const { response } = record({ before: (made) => made.assignSocket(socket) });
  const listeners = socket.listenerCount('end');
  response.detachSocket(socket);
  const next = record({ before: (made) => made.assignSocket(socket) });
  expect(socket.listenerCount('end')).toBe(listeners);
  socket.emit('end');
  expect(next.response.socket).toBe(socket);
  Object.defineProperty(socket, 'writable', { value: false });
  socket.emit('end');
  expect(next.response.socket).not.toBe(socket);
  // Another response, which is not recorded, has the connection now.
  new ServerResponse(new IncomingMessage(socket)).assignSocket(socket);
  socket.emit('end');
});

test('a connection that ended before is one whose client left', () => {
  const socket = new Socket({ allowHalfOpen: true });
  Object.defineProperty(socket, 'writable', { value: false });
  const { response, settle } = record({ before: (made) => made.assignSocket(socket) });
  expect(response.socket).not.toBe(socket);
  response.end('x');
  expect(settle).toHaveBeenCalledOnce();
});
