import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createSigningKey } from '@ori/proof/signing';
import { capturedLog } from '@ori/test-env/captured-log';
import { headerOf, openGuardWorld } from '@ori/test-env/guard-world';
import { rawClient } from '@ori/test-env/raw-client';
import { openRoom } from '@ori/test-env/room';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { expect, it } from 'vitest';

/** A key set that arrives when the test says so. */
async function slowKeys() {
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const source = { url: '' };
  const server = createServer(async (_req, res) => {
    asked.resolve();
    await answered.promise;
    res.end(await (await fetch(source.url)).text());
  });
  const { url } = await serveInTest(server);
  const env = { GUARD_KEYS_URL: `${url}/v1/interns/int_guarded/daemon/jwks.json` };
  return { env, source, asked: asked.promise, answer: answered.resolve };
}

const NO_KEYS = 'http://127.0.0.1:1/v1/interns/int_guarded/daemon/jwks.json';
const CALL = { path: '/api/%2e/in%20voke;a=b', body: '{"prompt":"hé"}', user: 'user_ada' };
const NEXT = { ...CALL, path: '/next' };

it('passes a proven request on byte for byte, with the caller as headers, once', async () => {
  await using world = await openGuardWorld();
  const twice = (line: string) => `${line}\r\n${line}\r\n`;
  const lines = twice('X-Own: a') + twice('Content-Encoding: identity');
  const request = world.signed({ ...CALL, lines });
  const answer = await world.raw(request);
  expect(answer).toMatchObject({ status: 200, body: 'user_ada' });
  const [seen] = world.seen;
  expect(seen).toMatchObject({ method: 'POST', url: CALL.path });
  expect(seen?.body.toString()).toBe(CALL.body);
  const headers = seen ?? { rawHeaders: [] };
  expect(headerOf(headers, 'x-ori-verified-user')).toBe('user_ada');
  expect(headerOf(headers, 'x-ori-verified-intern')).toBe('int_guarded');
  expect(headerOf(headers, 'x-ori-verified-issued-at')).toMatch(/^\d{10}$/);
  expect(headerOf(headers, 'x-ori-verified-nonce')).toMatch(/^[\w-]{22}$/);
  expect(headerOf(headers, 'x-own')).toBe('2 values');
  expect(headers.rawHeaders.join()).not.toContain('invoke');
  const again = await world.raw(request);
  expect(again.status).toBe(401);
  // No diagnosis: services/ori/README.md.
  expect(JSON.parse(again.body)).toEqual({ error: { code: 'nonce_replayed', message: expect.any(String) } });
  expect(world.seen).toHaveLength(1);
});

it.each([
  ['none', {}, [undefined, undefined, '127.0.0.1']],
  ['those that a gateway sets', { GUARD_TRUST_GATEWAY: 'true' }, ['d.example', 'https', '192.0.2.1']],
])('of X-Forwarded-…, passes on %s', async (_what, env, expected) => {
  await using world = await openGuardWorld({ env });
  // A gateway passes on what it does not know.
  const claims = [
    'User',
    'Email',
    'Groups',
    'Access-Token',
    'Client-Cert',
    'Method',
    'Uri',
    'Prefix',
    'Port',
  ];
  const lines = claims.map((name) => `X-Forwarded-${name}: intruder\r\n`).join('');
  const set = 'X-Forwarded-Host: d.example\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.1\r\n';
  const call = { path: '/a', body: '{}', user: 'user_ada', lines: lines + set };
  expect(await world.raw(world.signed(call))).toMatchObject({ status: 200 });
  const [seen = expect.unreachable()] = world.seen;
  expect(['host', 'proto', 'for'].map((name) => headerOf(seen, `x-forwarded-${name}`))).toEqual(expected);
  expect(seen.rawHeaders).not.toContain('intruder');
});

it('refuses a proven call whose Connection would remove a header, or whose path begins with //', async () => {
  await using world = await openGuardWorld({ env: { GUARD_OPEN_PATHS: '/healthz' } });
  const codeOf = ({ status, body }: { status: number; body: string }) => [
    status,
    JSON.parse(body).error.code,
  ];
  const call = { path: '/a', body: '{}', user: 'user_ada' };
  for (const name of ['content-type', 'x-ori-verified-user', 'close, x-ori-verified-nonce']) {
    const answer = await world.raw(world.signed({ ...call, lines: `Connection: ${name}\r\n` }));
    expect(codeOf(answer)).toEqual([400, 'connection_header']);
  }
  expect(codeOf(await world.raw(world.signed({ ...call, path: '//a' })))).toEqual([400, 'path_ambiguous']);
  expect(world.seen).toEqual([]);
  const connection = 'Connection: keep-alive, TE\r\nTE: trailers\r\n';
  expect(await world.raw(world.signed({ ...call, lines: connection }))).toMatchObject({ status: 200 });
});

it('gives daemon and client the id of its log line, and neither that of the other', async () => {
  const { log, lines } = capturedLog();
  await using world = await openGuardWorld({
    log,
    daemon: (req, res) => {
      res.setHeader('x-request-id', 'theirs').end(req.headers['x-request-id']);
    },
  });
  const { headers, body } = await world.raw(world.signed({ ...CALL, lines: 'X-Request-Id: mine\r\n' }));
  expect(body).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers.get('x-request-id')).toBe(body);
  await expect.poll(() => lines).toContainEqual(expect.objectContaining({ requestId: body }));
});

it.each(['proxy', 'ext_authz'])(
  'in mode %s, a call that was answered at its deadline does not reach the daemon when its proof is accepted',
  async (mode) => {
    const keys = await slowKeys();
    const { log, lines } = capturedLog();
    const answers = mode === 'proxy' ? { GUARD_ANSWERS: 'true' } : {};
    const env = { ...keys.env, ...answers, GUARD_MODE: mode, GUARD_DEADLINE_MS: '100' };
    await using world = await openGuardWorld({ env, log });
    keys.source.url = world.keysUrl;
    const request = world.signed(CALL);
    using client = await rawClient(world.port);
    client.send(request);
    expect(await client.answer()).toMatchObject({ status: 408 });
    keys.answer();
    await expect.poll(async () => (await world.raw(request)).body).toContain('nonce_replayed');
    await world.raw(world.signed(NEXT));
    expect(world.seen.map(({ url }) => url)).toEqual(mode === 'proxy' ? [NEXT.path] : []);
    if (mode === 'proxy') {
      const nonce = /x-ori-invoke-nonce: *(\S+)/i.exec(request)?.[1];
      const question = { ...CALL, path: `/.well-known/ori/calls/${nonce}`, body: '' };
      expect((await world.raw(world.signed(question))).body).toContain('answer_lost');
    }
    expect(JSON.stringify(lines)).not.toContain('ERR_HTTP_HEADERS_SENT');
  },
);

it('a call whose client left before its proof was accepted does not reach the daemon', async () => {
  const keys = await slowKeys();
  const { log, lines } = capturedLog();
  await using world = await openGuardWorld({ env: keys.env, log });
  keys.source.url = world.keysUrl;
  const request = world.signed(CALL);
  const client = await rawClient(world.port);
  client.send(request);
  await keys.asked;
  client[Symbol.dispose]();
  await expect.poll(() => JSON.stringify(lines)).toContain('{proven}');
  keys.answer();
  await expect.poll(async () => (await world.raw(request)).body).toContain('nonce_replayed');
  await world.raw(world.signed(NEXT));
  expect(world.seen.map(({ url }) => url)).toEqual([NEXT.path]);
});

it.each([
  ['nobody answers for', 'failing: keys_unavailable', { GUARD_KEYS_URL: NO_KEYS }],
  ['is empty', 'ok', {}],
])('is ready or not by a key set that %s', async (_what, verdict, env) => {
  await using world = await openGuardWorld({ env, jwks: { keys: [] } });
  const ready = await fetch(`${world.guard.opsUrl}/readyz`);
  expect(await ready.json()).toMatchObject({ checks: { keys: verdict, daemon: 'ok' } });
  expect(ready.status).toBe(verdict === 'ok' ? 200 : 503);
});

it('with a pinned root, accepts no key that the root does not vouch for', async () => {
  await using room = await openRoom('ori-guard-root');
  const file = join(room.directory, 'root.json');
  const x = Buffer.from(createSigningKey(randomBytes(32)).publicKey).toString('base64url');
  await writeFile(file, JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x }));
  await using world = await openGuardWorld({ env: { GUARD_ROOT_FILE: file } });
  const answer = await world.raw(world.signed(CALL));
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body).error.code).toBe('keys_unavailable');
  expect(world.seen).toEqual([]);
});
