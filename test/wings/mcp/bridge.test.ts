import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewStdioTransport } from '@modelcontextprotocol/client/stdio';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema, ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, McpServer as NewServer } from '@modelcontextprotocol/server';
import { freePort } from '@ori/test-env/ports';
import { keepAnswers } from '@ori/verifier/answers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { walkThrough } from '../../../services/standalone/src/person.ts';
import { guarded, INTERN_ID, listen, openSignedInWorld, send } from '../../e2e/cli-world.ts';
import { answersOf, authOf, bridgeOf, connectClient, environmentOf, startRecorder } from './mcp-world.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Messages of the test that loses none. */
const COUNT = Number(process.env['MCP_MESSAGES'] ?? 200);
const { world, home } = await openSignedInWorld();

/** An example of an MCP server of the verifier, as a process. */
async function startExample(name: string): Promise<string> {
  const block = await readFile(join(ROOT, 'libs/public/verifier/examples', name), 'utf8');
  const keys = await listen((_request, response) => send(response, { status: 200, body: world.jwks }));
  const port = await freePort();
  const folder = await mkdtemp(join(ROOT, 'node_modules', '.mcp-'));
  const file = join(folder, 'server.mjs');
  await writeFile(
    file,
    block
      .replaceAll('8080', String(port))
      .replaceAll('int_7Qm2', INTERN_ID)
      .replace(/'https:[^']*'/, `'${keys.url}'`),
  );
  const child = spawn(process.execPath, [file], { stdio: 'inherit' });
  onTestFinished(async () => {
    child.kill();
    await once(child, 'close');
    await keys.stop();
    await rm(folder, { recursive: true });
  });
  await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), { timeout: 10_000, interval: 50 });
  return `http://127.0.0.1:${port}`;
}

/** An unmodified client of the stable SDK. */
async function connectStableClient(env: Record<string, string>, mode: 'auto' | { pin: string }) {
  const client = new NewClient({ name: 'new', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new NewStdioTransport(bridgeOf(env)));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

it.each([
  ['mcp-sdk1.ts', connectClient],
  // Starts the command twice, and ends the first one when it knows the version.
  ['mcp.ts', (env: Record<string, string>) => connectStableClient(env, 'auto')],
])('connects an unmodified client to the example %s, whose tools see the person', async (name, connect) => {
  await using hop = await startRecorder(await startExample(name));
  await using client = await connect(environmentOf(home, world, hop.url));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['whoami']);
  expect(await client.callTool({ name: 'whoami' })).toMatchObject({ content: [{ text: 'acct_ada' }] });
  const statuses = await hop.repeated();
  // The last two are list and call; before them a new memory store refuses the first message.
  expect(statuses.length).toBeGreaterThanOrEqual(3);
  expect(new Set(statuses.slice(-2))).toEqual(new Set(['401 nonce_replayed']));
});

it('keeps the session, the order of a stream and the requests of the server, and loses and doubles nothing', async () => {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const calls: string[] = [];
  const headers: unknown[] = [];
  await using daemon = await guarded(world, async (req, res, { proof, body }) => {
    const { 'mcp-session-id': id, 'mcp-protocol-version': version } = req.headers;
    headers.push([id, version]);
    let transport = sessions.get(String(id));
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => 'session-of-ada',
        onsessioninitialized: (opened) =>
          void sessions.set(opened, transport as StreamableHTTPServerTransport),
      });
      await talkingServer(calls).connect(transport as Transport);
    }
    await transport.handleRequest(
      Object.assign(req, { auth: authOf(proof) }),
      res,
      JSON.parse(body.toString()),
    );
  });
  await using client = await connectClient(environmentOf(home, world, daemon.url), (client) =>
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
      action: 'accept',
      content: { answer: `to ${params.message}` },
    })),
  );
  const steps: unknown[] = [];
  const onprogress = ({ progress }: { progress: number }) => void steps.push(progress);
  expect(await client.callTool({ name: 'count' }, undefined, { onprogress })).toMatchObject({
    content: [{ text: '"to \u2028how far?"' }],
  });
  expect(steps).toEqual(Array.from({ length: 50 }, (_, i) => i));
  const texts = Array.from({ length: COUNT }, (_, i) => `${i}\u2028`);
  const answers = await Promise.all(
    texts.map((text) =>
      client.callTool({ name: 'echo', arguments: { text } }, undefined, { timeout: 300_000 }),
    ),
  );
  expect(answers.map(({ content }) => content)).toEqual(
    texts.map((text) => [{ type: 'text', text: `acct_ada ${text}` }]),
  );
  expect(calls).toEqual(texts);
  expect(headers[0]).toEqual([undefined, undefined]);
  expect(new Set(headers.slice(1).map(String))).toEqual(new Set(['session-of-ada,2025-11-25']));
});

it.each([
  ['cancels by ending the request', false],
  ['ends no request of a daemon that keeps answers', true],
])('serves a stateless client of the newest SDK, and %s', async (_, answers) => {
  const [started, finish, ended] = [0, 0, 0].map(() => Promise.withResolvers<string>());
  const handler = createMcpHandler(() => {
    const server = new NewServer({ name: 'new', version: '1.0.0' });
    server.registerTool('whoami', {}, (context) => ({
      content: [{ type: 'text', text: String(context.http?.authInfo?.extra?.['user']) }],
    }));
    server.registerTool(
      'wait',
      {},
      ({ mcpReq }) =>
        new Promise((resolve, reject) => {
          mcpReq.signal.addEventListener('abort', () => {
            ended?.resolve('cancelled');
            reject(new Error('cancelled'));
          });
          void finish?.promise.then((how) => {
            ended?.resolve(how);
            resolve({ content: [] });
          });
          started?.resolve('');
        }),
    );
    return server;
  });
  let left: Promise<unknown> | undefined;
  const answer = answersOf(handler);
  const handle: typeof answer = (req, res, proven) => {
    left = once(req.socket, 'close');
    return answer(req, res, proven);
  };
  await using daemon = await guarded(world, handle, { answers: answers ? keepAnswers() : undefined });
  await using client = await connectStableClient(environmentOf(home, world, daemon.url), {
    pin: '2026-07-28',
  });
  expect(await client.callTool({ name: 'whoami' })).toMatchObject({ content: [{ text: 'acct_ada' }] });
  const waiting = new AbortController();
  const call = client.callTool({ name: 'wait' }, { signal: waiting.signal });
  call.catch(() => {});
  await started?.promise;
  waiting.abort();
  await expect(call).rejects.toThrow();
  await left;
  if (answers) finish?.resolve('finished');
  expect(await ended?.promise).toBe(answers ? 'finished' : 'cancelled');
});

/** The lines that `ori mcp` writes for the given ones. */
async function bridged(lines: readonly string[], daemonUrl: string) {
  const stdin = Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');
  const run = { stdin, env: { ORI_DAEMON_URL: daemonUrl } };
  const result = await home.ori(['mcp', INTERN_ID], run);
  return { exit: result.exit, messages: messagesOf(result) };
}

const messagesOf = ({ stdout }: { readonly stdout: string }) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const requestOf = (id: number | string, method = 'tools/list') =>
  JSON.stringify({ jsonrpc: '2.0', id, method });

it('leaves out the byte order marks of a client and of a server', async () => {
  const got: string[] = [];
  await using daemon = await guarded(world, (_req, res, { body }) => {
    got.push(body.toString());
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end('\uFEFF{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  const { messages } = await bridged([Buffer.from(`\uFEFF${requestOf(1)}`).toString('latin1')], daemon.url);
  expect([got, messages]).toEqual([[requestOf(1)], [{ jsonrpc: '2.0', id: 1, result: {} }]]);
});

it('answers what is no JSON-RPC, and what the daemon or the API refuses, with an error of JSON-RPC', async () => {
  const begun = Promise.withResolvers<ServerResponse>();
  const answers = [
    (res: ServerResponse) =>
      res
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}'),
    (res: ServerResponse) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    (res: ServerResponse) =>
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{\n"jsonrpc":"2.0",\n"id":"other","result":{}}'),
    (res: ServerResponse) =>
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{\n"jsonrpc":"2.0",\r\n"id":5,"result":12345678901234567890}'),
    (res: ServerResponse) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: {"jsonrpc":"2.0","method":"note"}\n\n');
      begun.resolve(res);
    },
    // The question about the answer before.
    (res: ServerResponse) => res.writeHead(404).end(),
    (res: ServerResponse) => res.writeHead(202).end(),
  ];
  await using daemon = await listen((req, res) => req.resume().on('end', () => answers.shift()?.(res)));
  world.scripted.push({
    status: 429,
    headers: { 'retry-after': '7' },
    body: { error: { code: 429, message: 'Slow.', metadata: { reason: 'rate_limited', retryable: true } } },
  });
  const one = async (line: string) => (await bridged([line], daemon.url)).messages;
  expect(await one(requestOf(1))).toMatchObject([
    { id: 1, error: { code: -32000, data: { code: 'rate_limited', exit: 5, retry_after: 7 } } },
  ]);
  expect(await one(requestOf(2))).toEqual([
    { jsonrpc: '2.0', id: 2, error: { code: -32001, message: 'Session not found' } },
  ]);
  expect(await one(requestOf(3))).toMatchObject([
    { id: 3, error: { data: { code: 'answer_not_understood' } } },
  ]);
  expect(await one(requestOf(4))).toMatchObject([{ id: 4, error: { data: { code: 'answer_lost' } } }]);
  const { stdout } = await home.ori(['mcp', INTERN_ID], {
    stdin: requestOf(5),
    env: { ORI_DAEMON_URL: daemon.url },
  });
  expect(stdout).toBe('{ "jsonrpc":"2.0", "id":5,"result":12345678901234567890}\n');
  const broken = home.start(['mcp', INTERN_ID], {
    stdin: requestOf(6),
    env: { ORI_DAEMON_URL: daemon.url },
  });
  await once(broken.child.stdout as Readable, 'data');
  (await begun.promise).destroy();
  expect(messagesOf(await broken.result)).toMatchObject([
    { method: 'note' },
    { id: 6, error: { data: { code: 'answer_lost', exit: 9 } } },
  ]);
  expect(await one('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toEqual([]);
  const { exit, messages } = await bridged(
    ['{', requestOf(8, '\xff'), '[]', '{"id":1}', '{"id":9,"method":"a"}', '', requestOf(7)],
    'http://127.0.0.1:1',
  );
  expect(exit).toBe(0);
  expect(messages.map(({ id, error }) => [id, error.code, error.data?.code])).toEqual([
    [8, -32700, undefined],
    [9, -32600, undefined],
    [7, -32000, 'unreachable'],
  ]);
});

it('sends nothing after a notification before the server has answered it', async () => {
  const events: string[] = [];
  await using daemon = await listen(async (req, res) => {
    const { id } = JSON.parse(await text(req));
    events.push(id === undefined ? 'notification' : 'request');
    // Long enough for a bridge that does not wait.
    if (id === undefined) await pause(300);
    events.push('answered');
    if (id === undefined) res.writeHead(202).end();
    else send(res, { status: 200, body: { jsonrpc: '2.0', id, result: {} } });
  });
  const notification = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  const { messages } = await bridged([notification, requestOf(1)], daemon.url);
  expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  expect(events).toEqual(['notification', 'answered', 'request', 'answered']);
});

it('reads no further message while 256 wait for their answers', async () => {
  const held: ServerResponse[] = [];
  await using daemon = await listen((req, res) => void req.resume().on('end', () => held.push(res)));
  const bridge = bridgeOf(environmentOf(home, world, daemon.url));
  const child = spawn(bridge.command, bridge.args, { env: bridge.env });
  for (let id = 1; id <= 300; id += 1)
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' })}\n`);
  await expect.poll(() => held.length, { timeout: 30_000 }).toBe(256);
  // Long enough for another to arrive.
  await pause(300);
  expect(held).toHaveLength(256);
  held[0]?.writeHead(500).end();
  await expect.poll(() => held.length).toBe(257);
  child.kill();
  await once(child, 'close');
});

it('completes a renewal although the client is gone, so that no rotated token is lost', async () => {
  const held = Promise.withResolvers<ServerResponse>();
  await using daemon = await listen((_req, res) => held.resolve(res));
  await using leaving = await world.newSignedIn();
  const before = await leaving.session();
  const args = ['mcp', INTERN_ID, '--verbose', '--daemon', daemon.url];
  const bridge = leaving.start(args, { stdin: null });
  bridge.child.stdin?.write(`${requestOf(1)}\n`);
  const first = await held.promise;
  await leaving.changeSession({ expires_at: 1 });
  bridge.child.stdin?.write(`${requestOf(2)}\n`);
  await bridge.told(/Refreshing/);
  bridge.child.stdout?.destroy();
  send(first, { status: 200, body: { jsonrpc: '2.0', id: 1, result: {} } });
  expect(await bridge.result).toMatchObject({ exit: 141 });
  expect((await leaving.session()).refresh_token).not.toBe(before.refresh_token);
});

it('signs in when nobody is signed in any more: of several, one; and then all answer', async () => {
  await using daemon = await guarded(world, (_req, res, { proof, body }) =>
    send(res, {
      status: 200,
      body: { jsonrpc: '2.0', id: JSON.parse(body.toString()).id, result: proof.user },
    }),
  );
  const stranger = await world.newHome({ BROWSER: 'true', ORI_DAEMON_URL: daemon.url });
  onTestFinished(() => stranger[Symbol.asyncDispose]());
  await world.signIn(stranger, { user: 'grace' });
  await rm(stranger.sessionFile);
  const bridges = Array.from({ length: 4 }, () =>
    stranger.start(['mcp', INTERN_ID], { stdin: requestOf(1) }),
  );
  const [, url = ''] = await Promise.any(bridges.map((bridge) => bridge.told(/sign in:\n {2}(\S+)\n/)));
  await fetch((await walkThrough(new URL(url), { user: 'grace', decision: 'allow' })) ?? '');
  const results = await Promise.all(bridges.map(({ result }) => result));
  for (const result of results)
    expect(result).toMatchObject({ exit: 0, stdout: '{"jsonrpc":"2.0","id":1,"result":"acct_grace"}\n' });
  expect(results.filter(({ stderr }) => stderr.includes('Open this page'))).toHaveLength(1);
});

it('notices that somebody has signed in elsewhere while its browser window waits', async () => {
  await using daemon = await guarded(world, (_req, res, { proof }) =>
    send(res, { status: 200, body: { jsonrpc: '2.0', id: 1, result: proof.user } }),
  );
  const stranger = await world.newHome({ BROWSER: 'true', ORI_DAEMON_URL: daemon.url });
  onTestFinished(() => stranger[Symbol.asyncDispose]());
  await world.signIn(stranger, { user: 'grace' });
  await rm(stranger.sessionFile);
  const bridges = [1, 2].map(() => stranger.start(['mcp', INTERN_ID], { stdin: requestOf(1) }));
  await Promise.any(bridges.map((bridge) => bridge.told(/sign in:\n {2}(\S+)\n/)));
  await world.signIn(stranger, { user: 'grace' });
  for (const { result } of bridges)
    expect(await result).toMatchObject({
      exit: 0,
      stdout: '{"jsonrpc":"2.0","id":1,"result":"acct_grace"}\n',
    });
});

it('ends after its client although the server has not answered initialize, and goes on sending', async () => {
  await using daemon = await listen((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const sending = setInterval(() => res.write(': alive\n\n'), 100);
    res.on('close', () => clearInterval(sending));
  });
  const stdin = [requestOf(1, 'initialize'), requestOf(2)].join('\n');
  const run = { stdin, env: { ORI_DAEMON_URL: daemon.url } };
  const { exit, stdout } = await home.ori(['mcp', INTERN_ID, '--timeout', '1'], run);
  expect(exit).toBe(0);
  expect(messagesOf({ stdout })).toMatchObject(
    [1, 2].map((id) => ({ id, error: { data: { code: 'answer_lost' } } })),
  );
});

it('does not wait for a sign-in longer than for an answer once its client is gone', async () => {
  const stranger = await world.newHome({ BROWSER: 'true' });
  onTestFinished(() => stranger[Symbol.asyncDispose]());
  await world.signIn(stranger);
  await rm(stranger.sessionFile);
  const bridge = stranger.start(['mcp', INTERN_ID, '--timeout', '1'], { stdin: requestOf(1) });
  await bridge.told(/sign in:\n {2}(\S+)\n/);
  const { exit, stdout } = await bridge.result;
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { data: { code: 'sign_in_timed_out' } } });
});

/** A server whose tools ask the client, report progress, and say who called. */
function talkingServer(calls: string[]): McpServer {
  const server = new McpServer({ name: 'talking', version: '1.0.0' });
  server.registerTool('count', {}, async ({ _meta, sendNotification, sendRequest }) => {
    for (let progress = 0; progress < 50; progress++) {
      const params = { progressToken: _meta?.progressToken ?? 0, progress };
      await sendNotification({ method: 'notifications/progress', params });
    }
    const requestedSchema = { type: 'object' as const, properties: { answer: { type: 'string' as const } } };
    const params = { message: '\u2028how far?', requestedSchema };
    const { content } = await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema);
    return { content: [{ type: 'text', text: JSON.stringify(content?.['answer']) }] };
  });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }, { authInfo }) => {
    calls.push(text);
    return { content: [{ type: 'text', text: `${authInfo?.extra?.['user']} ${text}` }] };
  });
  return server;
}
