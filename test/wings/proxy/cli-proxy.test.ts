import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { guarded, INTERN_ID, listen, openSignedInWorld } from '../../e2e/cli-world.ts';
import { findProgram } from '../../env/room.ts';
import { authOf } from '../mcp/mcp-world.ts';

const CURL = findProgram('curl');
if (CURL === undefined) console.warn('Skipped: no curl is on the PATH.');
const PAGE = 'http://localhost:5173';
/** What a daemon must not decide for the address that all programs of a computer share, or in the name of the proxy. */
const OF_THE_BROWSER = [
  ...['set-cookie', 'set-cookie2', 'clear-site-data', 'refresh', 'alt-svc', 'strict-transport-security'],
  ...['service-worker-allowed', 'access-control-allow-origin', 'x-ori-proxy-error'],
];
const { world, home } = await openSignedInWorld();
const seen: IncomingMessage['headers'][] = [];
const daemon = await guarded(world, async (req, res, { proof, body }) => {
  seen.push(req.headers);
  if (req.url === '/mcp') {
    const server = new McpServer({ name: 'behind', version: '1.0.0' });
    server.registerTool('whoami', {}, ({ authInfo }) => ({
      content: [{ type: 'text', text: String(authInfo?.extra?.['user']) }],
    }));
    const transport = new StreamableHTTPServerTransport({});
    await server.connect(transport as Transport);
    await transport.handleRequest(
      Object.assign(req, { auth: authOf(proof) }),
      res,
      JSON.parse(body.toString()),
    );
    return;
  }
  const foreign = Object.fromEntries(OF_THE_BROWSER.map((name) => [name, 'a=b']));
  res.writeHead(201, { 'content-type': 'application/json', 'x-of-the-daemon': 'yes', ...foreign });
  res.end(JSON.stringify({ user: proof.user, path: req.url, bytes: body.length }));
});
const running = home.start(['proxy', INTERN_ID, '--allow-origin', PAGE], {
  stdin: null,
  env: { ORI_DAEMON_URL: daemon.url },
});
const [, url = ''] = await addressOf(running);
const { origin, port, pathname } = new URL(url);
const secret = pathname.slice(1);
afterAll(async () => {
  running.child.kill('SIGINT');
  expect((await running.result).exit).toBe(130);
  await daemon.stop();
});
beforeEach(() => {
  seen.length = 0;
});

async function addressOf({ child }: typeof running): Promise<RegExpExecArray> {
  let out = '';
  for await (const chunk of child.stdout ?? []) {
    out += chunk;
    const found = /^(http:\/\/127\.0\.0\.1:\d+\/[\w-]{43})\n/.exec(out);
    if (found !== null) return found;
  }
  throw new Error(`no address: ${out}`);
}

/** Sends exactly these headers, as fetch would not. */
async function ask(
  path: string,
  {
    method = 'POST',
    headers = {},
    body = '{}',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
) {
  const sent = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    agent: false,
    headers: { 'content-type': 'application/json', ...headers },
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const said = await text(answer);
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: said === '' ? undefined : JSON.parse(said),
  };
}

it.skipIf(CURL === undefined)(
  'signs what curl sends, with the secret in the path or in a header',
  async () => {
    const body = 'x'.repeat(3_000_000);
    const file = join(home.folder, 'body');
    const config = join(home.folder, 'curl');
    await writeFile(file, body);
    for (const lines of [
      [`url = "${url}/api/invoke"`],
      [`url = "${origin}/api/invoke"`, `header = "x-ori-proxy-secret: ${secret}"`],
    ]) {
      await writeFile(config, lines.join('\n'));
      const args = [
        '-sS',
        '--config',
        config,
        '-H',
        'content-type: application/json',
        '--data-binary',
        `@${file}`,
      ];
      const { stdout } = await promisify(execFile)(CURL ?? '', args);
      expect(JSON.parse(stdout)).toEqual({ user: 'acct_ada', path: '/api/invoke', bytes: body.length });
    }
    await running.told(/^POST \/api\/invoke 201, 3000000 bytes, \d+ ms$/m);
  },
);

it.skipIf(process.getuid?.() !== 0)('gives nothing to a process of another user', async () => {
  const about = `/proc/${running.child.pid}`;
  const { hostname, port } = new URL(origin);
  const request = 'POST /api/invoke HTTP/1.0\\r\\nContent-Length: 2\\r\\n\\r\\n{}';
  const ask = `exec 3<>/dev/tcp/${hostname}/${port}; printf '${request}' >&3; cat <&3`;
  const commands = `${ask}; find ${about} -maxdepth 1 -type f -exec cat {} +; ls -l ${about}/fd`;
  const nobody = ['--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs'];
  const { stdout, stderr } = await promisify(execFile)('setpriv', [
    ...nobody,
    'bash',
    '-c',
    `(${commands}) || true`,
  ]);
  expect(stdout).toContain('not_proxied');
  expect(stderr).toContain(`${about}/environ: Permission denied`);
  expect(stdout).not.toContain(secret);
  expect(seen).toEqual([]);
});

it('serves an SDK whose base address was changed', async () => {
  const client = new Client({ name: 'sdk', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`));
  await client.connect(transport as Transport);
  expect(await client.callTool({ name: 'whoami' })).toMatchObject({ content: [{ text: 'acct_ada' }] });
  await client.close();
});

it('passes on neither cookies nor headers of its own, in either direction', async () => {
  const headers = {
    cookie: 'a=b',
    'x-ori-invoke-user': 'mallory',
    'x-ori-proxy-secret': secret,
    'x-kept': '1',
    connection: 'x-hop',
    'x-hop': '1',
  };
  const answer = await ask(`${pathname}/api/invoke`, { headers });
  expect(answer).toMatchObject({
    status: 201,
    headers: { 'x-of-the-daemon': 'yes' },
    body: { user: 'acct_ada' },
  });
  for (const name of OF_THE_BROWSER) expect(Object.keys(answer.headers)).not.toContain(name);
  expect(seen).toMatchObject([{ 'x-kept': '1', 'x-ori-invoke-user': 'acct_ada' }]);
  for (const name of ['cookie', 'x-hop', 'x-ori-proxy-secret'])
    expect(Object.keys(seen[0] ?? {})).not.toContain(name);
});

const own = { 'x-ori-proxy-secret': secret };
it.each([
  ['a process that does not know the secret', '/api/invoke', {}, 403],
  ['one that guesses it', `/${'A'.repeat(43)}/api/invoke`, {}, 403],
  ['one that knows a part of it', `/${secret.slice(0, 42)}/api/invoke`, {}, 403],
  ['a page of another site', `${pathname}/api/invoke`, { headers: { origin: 'https://evil.example' } }, 403],
  [
    'a page without an origin, such as a file',
    `${pathname}/api/invoke`,
    { headers: { origin: 'null' } },
    403,
  ],
  ['a page of the allowed origin without the secret', '/api/invoke', { headers: { origin: PAGE } }, 403],
  [
    'the preflight of a page of another site',
    `${pathname}/a`,
    {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    },
    403,
  ],
  [
    'a name that resolves to this address',
    `${pathname}/api/invoke`,
    { headers: { host: `evil.example:${port}` } },
    421,
  ],
  ['another method', `${pathname}/api/invoke`, { method: 'GET' }, 405],
  ['a content coding', `${pathname}/api/invoke`, { headers: { 'content-encoding': 'gzip' } }, 415],
  ['a query', `${pathname}/api/invoke?a=b`, {}, 400],
  ['no path', pathname, {}, 400],
  ['an absolute form', `${url}/api/invoke`, {}, 403],
  ['an absolute form with the secret', 'http://evil.example/', { headers: own }, 400],
])('signs nothing for %s', async (_who, path, options: Parameters<typeof ask>[1], status) => {
  world.requests.length = 0;
  const { headers, body, ...answer } = await ask(path, options);
  expect(answer.status).toBe(status);
  expect(body.error).toMatchObject({ code: headers['x-ori-proxy-error'] });
  if (options?.headers?.['origin'] !== PAGE)
    expect(Object.keys(headers)).not.toContain('access-control-allow-origin');
  expect([world.requests, seen]).toEqual([[], []]);
});

it('lets a page of the allowed origin ask, and read the answer', async () => {
  const asks = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
  expect(
    await ask(`${pathname}/api/invoke`, { method: 'OPTIONS', headers: { origin: PAGE, ...asks }, body: '' }),
  ).toMatchObject({
    status: 204,
    headers: {
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type',
    },
  });
  expect(seen).toEqual([]);
  expect(await ask(`${pathname}/api/invoke`, { headers: { origin: PAGE } })).toMatchObject({
    status: 201,
    headers: { 'access-control-allow-origin': PAGE, vary: 'origin' },
  });
  expect(Object.keys(seen[0] ?? {})).not.toContain('origin');
});

it('answers a refusal of the API with its code, and says when to try again', async () => {
  world.scripted.push({
    status: 429,
    headers: { 'retry-after': '7' },
    body: { error: { code: 429, message: 'Slow.', metadata: { reason: 'rate_limited', retryable: true } } },
  });
  expect(await ask(`${pathname}/api/invoke`)).toMatchObject({
    status: 429,
    headers: { 'retry-after': '7', 'x-ori-proxy-error': 'rate_limited' },
    body: { error: { code: 'rate_limited', exit: 5 } },
  });
  await running.told(/^POST \/api\/invoke 429 \(rate_limited\), 2 bytes/m);
});

it('streams the answer, and ends the call when the client leaves', async () => {
  const [left, heard] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using streaming = await listen((req, res) => {
    req.resume();
    res.writeHead(200).write('first');
    void heard.promise.then(() => res.write('second'));
    res.on('close', () => left.resolve());
  });
  const other = home.start(['proxy', INTERN_ID], { stdin: null, env: { ORI_DAEMON_URL: streaming.url } });
  onTestFinished(async () => {
    other.child.kill('SIGINT');
    await other.result;
  });
  const [, there = ''] = await addressOf(other);
  const gone = new AbortController();
  const answer = await fetch(`${there}/api/invoke`, { method: 'POST', body: '{}', signal: gone.signal });
  const parts: string[] = [];
  const reading = (async () => {
    for await (const part of answer.body ?? []) {
      parts.push(Buffer.from(part).toString());
      heard.resolve();
      if (parts.join('') === 'firstsecond') gone.abort();
    }
  })();
  await expect(reading).rejects.toThrow();
  await left.promise;
  await turn();
  expect(parts).toEqual(['first', 'second']);
});
