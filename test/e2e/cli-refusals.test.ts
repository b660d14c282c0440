import { createServer } from 'node:net';
import { beforeEach, expect, it } from 'vitest';
import { freePort } from '../env/ports.ts';
import { runOri, startOri } from './cli-in-process.ts';
import { INTERN_ID, listen, openSignedInWorld, type Scripted, send } from './cli-world.ts';

const SIGN = ['sign', INTERN_ID, '--path', '/api/invoke', '--data', '{}'];
const CALL = ['call', INTERN_ID, '/api/invoke', '--data', '{}'];
const { world, home } = await openSignedInWorld();
beforeEach(() => {
  world.scripted.length = 0;
  world.requests.length = 0;
});

function refusal(status: number, reason: string, headers: Record<string, string> = {}): Scripted {
  const error = { code: status, message: `Said \u001b[2J.`, metadata: { reason, retryable: false } };
  return { status, headers: { 'x-request-id': 'req-7', ...headers }, body: { error } };
}

it.each([
  [
    refusal(403, 'insufficient_scope', { 'www-authenticate': 'Bearer scope="vault:read"' }),
    4,
    'scope vault:read',
  ],
  [refusal(404, 'not_found'), 4, INTERN_ID],
  [refusal(429, 'rate_limited', { 'retry-after': '17' }), 5, 'in 17 s'],
  [refusal(500, 'internal_error'), 6, 'Try again'],
  [{ status: 431, body: { error: { code: 431, message: 'Too large.' } } }, 4, '16,000 characters'],
  [{ status: 502, body: 'Bad Gateway' }, 6, '502'],
  [{ status: 307, headers: { location: 'http://127.0.0.1:9/' } }, 4, '307'],
  [{ status: 200, body: { 'x-ori-invoke-user': 'ada' } }, 6, 'not a proof'],
])('reports the signer’s response and exits accordingly: %j', async (answer, exit, word) => {
  world.scripted.push(answer);
  const result = await runOri(home, SIGN);
  expect(result).toMatchObject({ exit, stdout: '' });
  expect(result.stderr).toContain(word);
  expect(result.stderr).not.toContain('\u001b');
  // Looks up why an intern cannot be signed for, without repeating the request.
  expect(world.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

it('limits the size of responses: of the signer, of a list, and of a daemon under --json', async () => {
  world.scripted.push({ status: 200, body: 'x'.repeat(9 * 1024 * 1024) });
  expect((await runOri(home, SIGN)).stderr).toContain('too long');
  const page = { status: 200, body: { data: [], has_more: true, next_cursor: 'again' } };
  world.scripted.push(...Array(200).fill(page));
  expect((await runOri(home, ['interns', 'list'])).stderr).toContain('endless');
  await using daemon = await listen((_req, res) => res.end(Buffer.alloc(65 * 1024 * 1024)));
  const wrapped = await runOri(home, [...CALL, '--json', '--daemon', daemon.url]);
  expect(wrapped).toMatchObject({ exit: 6, stdout: '' });
});

it('reports the same as JSON', async () => {
  world.scripted.push(refusal(429, 'rate_limited', { 'retry-after': '17' }));
  const { stderr } = await runOri(home, [...SIGN, '--json']);
  expect(JSON.parse(stderr)).toEqual({
    error: {
      code: 'rate_limited',
      exit: 5,
      message: expect.any(String),
      next: 'Try again in 17 s.',
      status: 429,
      retry_after: 17,
      request_id: 'req-7',
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    },
  });
});

// SPEC.md C5.
it.each([
  [{ status: 401, body: { error: { code: 'signature_invalid' } } }, 7, 'ori doctor call'],
  [{ status: 401, body: { error: { code: 'request_not_coverable' } } }, 7, 'added a query'],
  [{ status: 502, body: { error: { code: 'daemon_unreachable' } } }, 8, 'The call was not carried out.'],
  [{ status: 503, body: { error: { code: 'busy' } } }, 8, 'The call was not carried out.'],
  [{ status: 503, body: { error: { code: 'body_not_kept' } } }, 8, 'The call was not carried out.'],
  [{ status: 401, body: { error: { code: 'proof_expired' } } }, 7, 'clocks'],
  [{ status: 404, body: { error: { code: 404, message: 'No.' } } }, 7, '404'],
  [{ status: 302, headers: { location: 'http://127.0.0.1:9/' } }, 7, 'does not follow redirects'],
  [{ status: 503, body: { error: { code: 'keys_unavailable' } } }, 8, 'keys_unavailable'],
  [{ status: 500 }, 8, 'may have been carried out. Its answer'],
])('shows the daemon’s response and exits accordingly: %j', async (answer, exit, word) => {
  await using daemon = await listen((_req, res) => send(res, answer));
  const result = await runOri(home, [...CALL, '--daemon', daemon.url]);
  expect(result).toMatchObject({ exit, stdout: JSON.stringify('body' in answer ? answer.body : {}) });
  expect(result.stderr).toContain(word);
});

// SPEC.md C4, C6.
it('signs again once after the pause that the daemon requests, with a new proof of the same body', async () => {
  const calls: { nonce: unknown; body: string }[] = [];
  await using daemon = await listen(async (req, res) => {
    const body = (await req.setEncoding('utf8').toArray()).join('');
    calls.push({ nonce: req.headers['x-ori-invoke-nonce'], body });
    const error = { code: 'proof_before_fence' };
    send(res, { status: 401, headers: { 'retry-after': '1' }, body: { error } });
  });
  const result = await startOri(home, [...CALL.slice(0, 3), '--daemon', daemon.url], { stdin: '{"a":1}' })
    .result;
  expect(result).toMatchObject({ exit: 7, stdout: '{"error":{"code":"proof_before_fence"}}' });
  expect(result.stderr).toContain('signing again in 1 s');
  expect(calls.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
  expect(new Set(calls.map(({ nonce }) => nonce)).size).toBe(2);
});

it.each([
  ['another code', { 'retry-after': '1' }, 'signature_invalid'],
  ['no pause', {}, 'proof_before_fence'],
  ['a pause too long', { 'retry-after': '31' }, 'proof_before_fence'],
])('does not sign again for %s', async (_what, headers, code) => {
  let calls = 0;
  await using daemon = await listen((_req, res) => {
    calls += 1;
    send(res, { status: 401, headers, body: { error: { code } } });
  });
  expect(await runOri(home, [...CALL, '--daemon', daemon.url])).toMatchObject({ exit: 7 });
  expect(calls).toBe(1);
});

// SPEC.md C7.
it('distinguishes an unreachable daemon, a silent one and a truncated response', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const unreachable = await runOri(home, [...CALL, '--daemon', nobody]);
  expect(unreachable).toMatchObject({ exit: 6, stdout: '' });
  expect(unreachable.stderr).toContain('nothing listens there');

  await using silent = await listen(() => {});
  const timedOut = await runOri(home, [...CALL, '--daemon', silent.url, '--timeout', '1']);
  expect(timedOut).toMatchObject({ exit: 9, stdout: '' });
  expect(timedOut.stderr).toContain('within 1 s');
  expect(timedOut.stderr).toContain('may have been carried out');

  const breaking = createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart of it'));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => breaking.listen(port, '127.0.0.1', resolve));
  const broken = await runOri(home, [...CALL, '--daemon', `http://127.0.0.1:${port}`]);
  breaking.close();
  expect(broken).toMatchObject({ exit: 9, stdout: 'part of it' });
  expect(broken.stderr).toContain('cut off');

  await using stalling = await listen((_req, res) => res.writeHead(200).write('part of it'));
  const stalled = await runOri(home, [...CALL, '--daemon', stalling.url, '--timeout', '1']);
  expect(stalled).toMatchObject({ exit: 9, stdout: 'part of it' });
  expect(stalled.stderr).toContain('within 1 s');
});

it('stops waiting for a daemon when interrupted', async () => {
  const called = Promise.withResolvers<void>();
  await using silent = await listen(() => called.resolve());
  const calling = home.start([...CALL, '--daemon', silent.url]);
  await called.promise;
  calling.child.kill('SIGTERM');
  expect(await calling.result).toMatchObject({ exit: 143, stdout: '' });
});

it.each([
  [['nonsense'], 2],
  [[], 0],
  [['sign', INTERN_ID, '--data', ''], 2],
  [['sign', INTERN_ID, '--path', '/a?b', '--data', ''], 2],
  [['sign', 'int_../x', '--path', '/a', '--data', ''], 2],
  [['sign', INTERN_ID, '--path', '/a', '--data', 'x', '--file', 'y'], 2],
  [['sign', INTERN_ID, '--path', '/a', '--body-sha256', 'AB'], 2],
  [['sign', INTERN_ID, '--path', '/a', '--file', '/nowhere'], 2],
  [['call', INTERN_ID, '/ä', '--data', ''], 2],
  [['call', INTERN_ID, '/a', '--data', '', '--daemon', 'http://daemon.example.com'], 2],
  [['call', INTERN_ID, '/a', '--data', '', '--daemon', 'http://127.0.0.1:9/api'], 2],
  [['call', INTERN_ID, '/a', '--data', '', '--timeout', '0'], 2],
  [['--json'], 2],
  [['call', INTERN_ID, '/a', '-d', '', '-H', 'host: elsewhere'], 2],
  [['call', INTERN_ID, '/a', '-d', '', '-o', 'x', '--json'], 2],
  [['login', '--profile', '..'], 2],
  [['completion', 'tcsh'], 2],
  [['doctor', 'call', INTERN_ID, '/a?b', '--data', ''], 2],
  [['doctor', 'call', INTERN_ID], 2],
  [['doctor', 'cal'], 2],
  [['login', '--oidc', '--scope', '"'], 2],
  [['--base-url', 'http://api.example.com/v1', 'whoami'], 2],
  [['--help'], 0],
  [['call', '--help'], 0],
  [['--version'], 0],
])('validates the command line before any request: %j', async (args, exit) => {
  const result = await runOri(home, args);
  expect(result.exit).toBe(exit);
  expect(exit === 0 ? result.stderr : result.stdout).toBe('');
  expect(exit === 0 ? result.stdout : result.stderr).not.toBe('');
  expect(world.requests).toEqual([]);
});

it('requires a daemon if none is named and the server does not list interns', async () => {
  const result = await runOri(home, CALL, { ORI_DAEMON_URL: '' });
  expect(result).toMatchObject({ exit: 2 });
  expect(result.stderr).toContain('--daemon');
});

it.each([
  [[{ id: 'int_other', hostname: 'daemon.invalid' }], 4, 'no intern int_cli_e2e'],
  [[{ id: INTERN_ID, hostname: null }], 2, '--daemon'],
  [[{ id: INTERN_ID, hostname: 'evil.example/path#' }], 6, 'invalid hostname'],
  [[{ id: INTERN_ID, hostname: 'ada:secret@evil.example' }], 6, 'invalid hostname'],
  [[{ id: INTERN_ID, hostname: 'daemon.invalid' }], 6, 'https://daemon.invalid'],
])('calls the hostname that the list has for the intern, over TLS: %j', async (interns, exit, word) => {
  const listed = interns.map((intern) => ({ name: 'Otto', status: 'running', model: null, ...intern }));
  world.scripted.push({ status: 200, body: { data: listed, has_more: false } });
  const result = await runOri(home, CALL, { ORI_DAEMON_URL: '' });
  expect(result).toMatchObject({ exit, stdout: '' });
  expect(result.stderr).toContain(word);
});
