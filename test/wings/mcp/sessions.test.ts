import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { keepAnswers } from '@ori/verifier/answers';
import { expect, it, onTestFinished } from 'vitest';
import { guarded, INTERN_ID, listen, openSignedInWorld } from '../../e2e/cli-world.ts';

const { world, home } = await openSignedInWorld();

interface Received {
  readonly message: { readonly method: string; readonly id?: number };
  readonly session: unknown;
}
type Handle = (received: Received, res: ServerResponse, req: IncomingMessage) => unknown;

/** A daemon that does not verify, and what it received. */
async function server(handle: Handle) {
  const received: string[] = [];
  const daemon = await listen(async (req, res) => {
    const message = JSON.parse(await text(req));
    const session = req.headers['mcp-session-id'];
    received.push(`${message.method} ${session ?? '-'}`);
    handle({ message, session }, res, req);
  });
  onTestFinished(() => daemon.stop());
  return { received, url: daemon.url };
}

const INITIALIZE = { method: 'initialize', id: 1, params: { protocolVersion: '2025-06-18' } };
const INITIALIZED = { method: 'notifications/initialized' };
const ping = (id: number) => ({ method: 'ping', id });
const errorOf = (id: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: 0, message: 'Request cancelled' } });
const resultOf = (id: unknown, result: object = {}) => JSON.stringify({ jsonrpc: '2.0', id, result });
const toJson = (res: ServerResponse, status: number, body: string, headers = {}) =>
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);

/** The messages that `ori mcp` writes for these, each sent when the one before has been answered. */
async function bridged(messages: readonly object[], daemonUrl: string, ...options: string[]) {
  const stdin = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  const run = { stdin, env: { ORI_DAEMON_URL: daemonUrl } };
  const { exit, stdout, stderr } = await home.ori(['mcp', INTERN_ID, ...options], run);
  const lines = stdout.split('\n').filter(Boolean);
  return { exit, stderr, answers: lines.map((line) => JSON.parse(line)) };
}

/** A running bridge, whose client reads and writes messages. */
function startBridge(daemonUrl: string, ...options: string[]) {
  const run = { stdin: null, env: { ORI_DAEMON_URL: daemonUrl } };
  const bridge = home.start(['mcp', INTERN_ID, ...options], run);
  return {
    send(...messages: readonly object[]) {
      for (const message of messages)
        bridge.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    },
    /** Ends stdin. */
    async end() {
      bridge.child.stdin?.end();
      const { exit, stdout, stderr } = await bridge.result;
      const lines = stdout.split('\n').filter(Boolean);
      return { exit, stderr, answers: lines.map((line) => JSON.parse(line)) };
    },
  };
}

const cancel = (requestId: number) => ({ method: 'notifications/cancelled', params: { requestId } });
it.each([
  // More than may wait for their answers.
  ['never answers it', 300, (_id: number, _res: ServerResponse) => undefined],
  ['answers it', 5, (id: number, res: ServerResponse) => toJson(res, 200, resultOf(id))],
  ['says that it was cancelled', 5, (id: number, res: ServerResponse) => toJson(res, 200, errorOf(id))],
  ['cuts its connection', 5, (_id: number, res: ServerResponse) => res.destroy()],
])('waits no more for what its client has cancelled, if the server %s', async (_what, count, onCancelled) => {
  const held = new Map<number, ServerResponse>();
  const [asked, cancelled, arrived]: [string[], number[], PromiseWithResolvers<void>] = [
    [],
    [],
    Promise.withResolvers(),
  ];
  const handle = (req: IncomingMessage, res: ServerResponse, { body }: { body: Buffer }) => {
    if (req.url !== '/mcp') asked.push(String(req.url));
    const { method, id, params } = JSON.parse(body.toString());
    if (method === 'initialize')
      return toJson(res, 200, resultOf(id, { protocolVersion: '2025-06-18' }), { 'mcp-session-id': 's1' });
    if (id > count + 1) return toJson(res, 200, resultOf(id));
    if (id !== undefined) {
      held.set(id, res);
      bridge.send(cancel(id), ping(id + 1));
      return undefined;
    }
    res.writeHead(202).end();
    if (method !== 'notifications/cancelled') return undefined;
    cancelled.push(params.requestId);
    onCancelled(params.requestId, held.get(params.requestId) as ServerResponse);
    if (cancelled.length === count) arrived.resolve();
    return undefined;
  };
  // A daemon that keeps answers could be asked for them.
  await using daemon = await guarded(world, handle, { answers: keepAnswers() });
  const bridge = startBridge(daemon.url);
  bridge.send(INITIALIZE, INITIALIZED, ping(2));
  await arrived.promise;
  const { exit, answers, stderr } = await bridge.end();
  expect(exit).toBe(0);
  expect(answers.map(({ id }) => id)).toEqual([1, count + 2]);
  expect(cancelled.toSorted((a, b) => a - b)).toEqual([...held.keys()]);
  expect([asked, stderr]).toEqual([[], '']);
});

it('sends neither a request nor its cancellation if both were read while something else was waited for', async () => {
  const initialized = Promise.withResolvers<ServerResponse>();
  const { url, received } = await server(({ message }, res) => {
    if (message.method === 'initialize') return initialized.resolve(res);
    return message.id === undefined ? res.writeHead(202).end() : toJson(res, 200, resultOf(message.id));
  });
  const bridge = startBridge(url);
  bridge.send(INITIALIZE, ping(2), cancel(2), ping(3));
  toJson(await initialized.promise, 200, resultOf(1));
  const { answers } = await bridge.end();
  expect(answers.map(({ id }) => id)).toEqual([1, 3]);
  expect(received).toEqual(['initialize -', 'ping -']);
});

it('ends with its client although nothing answers initialize, which was cancelled, or the cancellation', async () => {
  const arrived = Promise.withResolvers<void>();
  const { url } = await server(() => arrived.resolve());
  const bridge = startBridge(url);
  bridge.send(INITIALIZE, ping(2));
  await arrived.promise;
  bridge.send(cancel(2), cancel(1));
  expect(await bridge.end()).toEqual({ exit: 0, stderr: '', answers: [] });
});

// vercel/ai#16865, modelcontextprotocol/java-sdk#1050.
it('takes the last awaited answer for the end of a stream that the server leaves open', async () => {
  const { url } = await server(({ message }, res) => {
    if (message.id === undefined) return res.writeHead(202).end();
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    return res.write(`data: ${resultOf(message.id)}\n\n: a comment\n\n`);
  });
  const { exit, answers } = await bridged([INITIALIZE, INITIALIZED, ping(2), ping(3)], url);
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3]);
  expect(exit).toBe(0);
});

it.each(['alone', 'behind another message'])(
  'ends a subscription when stdin ends, and does not wait for it (%s)',
  async (place) => {
    const { url } = await server(({ message }, res) => {
      if (message.method === 'ping') return toJson(res, 200, resultOf(message.id));
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => res.write(': a comment\n\n'), 50);
      return res.on('close', () => clearInterval(timer));
    });
    const before = place === 'alone' ? [] : [ping(1)];
    const { exit, answers } = await bridged(
      [...before, { method: 'subscriptions/listen', id: 2 }],
      url,
      '--timeout',
      '2',
    );
    // One that was waited for would be answered with an error.
    expect(answers.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(exit).toBe(0);
  },
);

/** A server that knows one session, and forgets it before it answers `forgets`. */
function forgetful(forgets: number, refuse: (res: ServerResponse) => unknown, versions = ['2025-06-18']) {
  let known = '';
  let sessions = 0;
  let forgotten = false;
  return server(({ message, session }, res) => {
    if (message.method === 'initialize') {
      known = `s${++sessions}`;
      const protocolVersion = versions[sessions - 1] ?? versions.at(-1);
      return toJson(res, 200, resultOf(message.id, { protocolVersion }), { 'mcp-session-id': known });
    }
    if (message.id === forgets && !forgotten) {
      forgotten = true;
      known = 'none';
    }
    if (session !== known) return refuse(res);
    return message.id === undefined ? res.writeHead(202).end() : toJson(res, 200, resultOf(message.id));
  });
}

const NOT_FOUND = '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}';

const NO_VALID_SESSION =
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}';

// punkpeye/mcp-remote#106.
it.each([
  ['JSON-RPC', (res: ServerResponse) => toJson(res, 404, NOT_FOUND)],
  ['text', (res: ServerResponse) => res.writeHead(404).end('Not Found')],
  ['a 400', (res: ServerResponse) => toJson(res, 400, NO_VALID_SESSION)],
])('begins a session again that the server has forgotten, which says so in %s', async (_form, refuse) => {
  const { url, received } = await forgetful(3, refuse);
  const { exit, answers } = await bridged([INITIALIZE, INITIALIZED, ping(2), INITIALIZED, ping(3)], url);
  expect(answers.map(({ id, result }) => [id, result !== undefined])).toEqual([
    [1, true],
    [2, true],
    [3, true],
  ]);
  expect(received.slice(-4)).toEqual(['ping s1', 'initialize -', 'notifications/initialized s2', 'ping s2']);
  expect(exit).toBe(0);
});

it('passes the refusal on if the new session is not one that the client can use', async () => {
  const { url } = await forgetful(2, (res) => toJson(res, 404, NOT_FOUND), ['2025-06-18', '2025-11-25']);
  const { answers } = await bridged([INITIALIZE, INITIALIZED, ping(2)], url);
  expect(answers.slice(1)).toMatchObject([{ id: 2, error: { message: 'Session not found' } }]);
});

it('does not repeat a message more than once', async () => {
  const { url, received } = await server(({ message }, res) =>
    message.method === 'initialize'
      ? toJson(res, 200, resultOf(1), { 'mcp-session-id': 's' })
      : toJson(res, 404, NOT_FOUND),
  );
  const { answers } = await bridged([INITIALIZE, ping(2)], url);
  expect(answers.slice(1)).toMatchObject([{ id: 2, error: { message: 'Session not found' } }]);
  expect(received.filter((each) => each.startsWith('ping'))).toHaveLength(2);
});

const RESULT = '"result":12345678901234567890}';
it.each([
  [
    'a batch that also answers what nobody asked',
    `[${resultOf('other')},{"jsonrpc":"2.0","id":1,${RESULT}]`,
    '[]',
  ],
  ['a server that gives a number as text', `{"jsonrpc":"2.0","id":"1",${RESULT}`, ''],
])('passes on the answer of %s', async (_what, answer, [open = '', close = '']) => {
  const { url } = await server((_received, res) => toJson(res, 200, answer));
  const run = { stdin: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n', env: { ORI_DAEMON_URL: url } };
  const { stdout } = await home.ori(['mcp', INTERN_ID], run);
  expect(stdout).toBe(`${open}{"jsonrpc":"2.0","id":1,${RESULT}${close}\n`);
});
