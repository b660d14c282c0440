import { once } from 'node:events';
import { mkdir, readdir, readlink, rmdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { capturedLog } from '@ori/test-env/captured-log';
import { makeCertificate } from '@ori/test-env/certificate';
import { openGuardWorld } from '@ori/test-env/guard-world';
import { rawClient } from '@ori/test-env/raw-client';
import { openRoom } from '@ori/test-env/room';
import { expect, it } from 'vitest';

const CALL = { path: '/a', body: '{"secret":"s3cr3t"}', user: 'user_ada' };
const codeOf = ({ body }: { body: string }) => JSON.parse(body).error.code;

it('after the spend, 502 and 504 say what became of the call', async () => {
  const { log, text } = capturedLog();
  await using world = await openGuardWorld({
    log,
    env: { GUARD_DAEMON_ANSWER_MS: '200' },
    daemon: (req, res) => void (req.url === '/broken' && res.destroy()),
  });
  const broken = await world.raw(world.signed({ ...CALL, path: '/broken' }));
  expect(broken).toMatchObject({ status: 502 });
  expect(codeOf(broken)).toBe('daemon_failed');
  const late = world.signed({ ...CALL, path: '/late' });
  const timeout = await world.raw(late);
  expect(timeout).toMatchObject({ status: 504 });
  expect(codeOf(timeout)).toBe('daemon_timeout');
  for (const answer of [broken, timeout])
    expect(answer.body).toContain('The call may have been carried out.');
  expect(codeOf(await world.raw(late))).toBe('nonce_replayed');
  expect(world.seen).toHaveLength(2);
  expect(text()).not.toMatch(/s3cr3t|\/late|user_ada/);
  const metrics = await (await fetch(`${world.guard.opsUrl}/metrics`)).text();
  expect(metrics).toContain('guard_daemon_failures_total{kind="time"} 1');
  expect(metrics).toContain('ori_proof_verifications_total{outcome="nonce_replayed"} 1');
});

it.each([
  ['is not HTTP', 'SSH-2.0-daemon\r\n'],
  ['has more than 16 KiB of headers', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(16 * 1024)}\r\n\r\n`],
  ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
])('an answer that %s is 502, and the call may have been carried out', async (_, answer) => {
  await using world = await openGuardWorld({ daemon: (_req, res) => void res.socket?.end(answer) });
  const refused = await world.raw(world.signed(CALL));
  expect(refused).toMatchObject({ status: 502, body: expect.stringContaining('may have been carried out') });
  expect(codeOf(refused)).toBe('daemon_failed');
});

it.each(['100 Continue', '103 Early Hints\r\nLink: </a.css>'])(
  'passes on what follows an interim answer that nobody asked for: %s',
  async (interim) => {
    const daemon = (_req: unknown, res: ServerResponse) =>
      void res.socket?.end(`HTTP/1.1 ${interim}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone`);
    await using world = await openGuardWorld({ daemon });
    expect(await world.raw(world.signed(CALL))).toMatchObject({ status: 200, body: 'done' });
  },
);

it('closes a connection to the daemon that nothing uses', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  await using world = await openGuardWorld({
    env: { GUARD_DAEMON_IDLE_MS: '100' },
    daemon: (req, res) => {
      req.socket.once('close', () => resolve());
      res.end('done');
    },
  });
  expect(await world.raw(world.signed(CALL))).toMatchObject({ status: 200 });
  await closed;
});

it('takes an answer for whole that has neither a length nor chunks', async () => {
  const daemon = (_req: unknown, res: ServerResponse) => void res.socket?.end('HTTP/1.0 200 OK\r\n\r\nhalf');
  await using world = await openGuardWorld({ daemon });
  using client = await rawClient(world.port);
  client.send(world.signed(CALL));
  expect(await client.until(/\r\n0\r\n\r\n$/)).toContain('half');
});

it.each([
  ['is down', 'http://127.0.0.1:1'],
  ['is down at each of its addresses', 'http://localhost:1'],
  ['has no address', 'http://daemon.invalid'],
  ['the system does not connect to', 'http://255.255.255.255'],
])('a daemon that %s is 502, and the call was not carried out', async (_, url) => {
  await using world = await openGuardWorld({ env: { GUARD_DAEMON_URL: url } });
  const answer = await world.raw(world.signed(CALL));
  expect(answer).toMatchObject({ status: 502 });
  expect(codeOf(answer)).toBe('daemon_unreachable');
  const ready = await fetch(`${world.guard.opsUrl}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ checks: { keys: 'ok', replay: 'ok' } });
});

const tls = {
  expired: makeCertificate({ name: 'expired', daysLeft: -0.5 }),
  unknown: makeCertificate({ name: 'unknown' }),
  'not for this address': makeCertificate({ name: 'address' }),
};

/** Trusts all of these certificates but the unknown one. */
async function listenTrusted(server: Server) {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([tls.expired.cert, tls['not for this address'].cert]);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.dispose]() {
      setDefaultCACertificates(trusted);
      server.close();
    },
  };
}

it.each([
  ['expired', 'localhost', 'its certificate has expired'],
  ['unknown', 'localhost', 'its certificate is self-signed'],
  ['not for this address', '127.0.0.1', 'its certificate is for another host'],
] as const)('a daemon whose certificate is %s is 502, and the log says why', async (which, host, why) => {
  using server = await listenTrusted(createServer(tls[which], () => expect.unreachable()));
  const { log, lines } = capturedLog();
  await using world = await openGuardWorld({
    log,
    env: { GUARD_DAEMON_URL: `https://${host}:${server.port}` },
  });
  // The caller does not choose the name that the certificate must have.
  const answer = await world.raw(world.signed(CALL).replace('Host: daemon.example', 'Host: localhost'));
  expect(answer.status).toBe(502);
  expect(codeOf(answer)).toBe('daemon_unreachable');
  await expect.poll(() => lines.at(-1)).toMatchObject({ status: 502, why: expect.stringContaining(why) });
});

it('a daemon with TLS is called by the name in its address, whatever Host says, and over HTTP/1.1', async () => {
  const secure = { ...tls['not for this address'], allowHTTP1: true };
  using server = await listenTrusted(
    createSecureServer(secure, ({ httpVersion, headers }, res) => res.end(`${httpVersion} ${headers.host}`)),
  );
  await using world = await openGuardWorld({ env: { GUARD_DAEMON_URL: `https://localhost:${server.port}` } });
  expect(await world.raw(world.signed(CALL))).toMatchObject({ status: 200, body: '1.1 daemon.example' });
});

it('an answer streams: each part arrives before the next is written, and a client that goes away ends the call', async () => {
  const open = Promise.withResolvers<ServerResponse>();
  await using world = await openGuardWorld({
    daemon(_req, res) {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      open.resolve(res);
      res.write('data: 1\n\n');
    },
  });
  using client = await rawClient(world.port);
  client.send(world.signed(CALL));
  await expect.poll(() => client.received()).toContain('data: 1');
  const stream = await open.promise;
  stream.write('data: 2\n\n');
  await expect.poll(() => client.received()).toContain('data: 2');
  const gone = once(stream, 'close');
  client.socket.destroy();
  await gone;
});

it('an answer that breaks off looks broken off', async () => {
  await using world = await openGuardWorld({
    daemon(_req, res) {
      res.write('half', () => res.destroy());
    },
  });
  using client = await rawClient(world.port);
  client.send(world.signed(CALL));
  await client.closed();
  expect(client.received()).toContain('half');
  expect(client.received()).not.toContain('\r\n0\r\n');
});

it('a second answer of the daemon on one connection reaches nobody', async () => {
  await using world = await openGuardWorld({
    daemon({ url, socket }, res) {
      res.end(url, () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen'));
    },
  });
  for (const path of ['/a', '/b', '/c']) {
    expect(await world.raw(world.signed({ ...CALL, path }))).toMatchObject({ status: 200, body: path });
  }
});

it('a large body waits on disk under no name until it is verified, and arrives unchanged', async () => {
  await using room = await openRoom('ori-guard');
  await using world = await openGuardWorld({
    env: {
      GUARD_SPOOL_FOLDER: room.directory,
      GUARD_BODY_BYTES_MAX: '8000000',
    },
  });
  const body = JSON.stringify('x'.repeat(6_000_000));
  const request = world.signed({ ...CALL, body });
  using client = await rawClient(world.port);
  client.send(request.slice(0, 100_000));
  const isOpenWithoutName = async () => {
    const open = (await readdir('/proc/self/fd')).map((fd) =>
      readlink(`/proc/self/fd/${fd}`).catch(() => ''),
    );
    return (await Promise.all(open)).some((at) => at.startsWith(room.directory) && at.endsWith(' (deleted)'));
  };
  await expect.poll(isOpenWithoutName).toBe(true);
  expect(await readdir(room.directory)).toEqual([]);
  expect(world.seen).toEqual([]);
  client.send(request.slice(100_000));
  expect((await client.answer()).status).toBe(200);
  expect(world.seen[0]?.body.equals(Buffer.from(body))).toBe(true);
  const tooLarge = await world.raw(world.signed({ ...CALL, body: `"${'x'.repeat(8_000_000)}"` }));
  expect(codeOf(tooLarge)).toBe('body_too_large');
  expect(world.seen).toHaveLength(1);
});

it('needs the folder only for what is larger than 64 KiB', async () => {
  await using room = await openRoom('ori-guard');
  const folder = join(room.directory, 'spool');
  await mkdir(folder);
  await using world = await openGuardWorld({ env: { GUARD_SPOOL_FOLDER: folder } });
  await rmdir(folder);
  const send = (bytes: number) => world.raw(world.signed({ ...CALL, body: 'x'.repeat(bytes) }));
  expect(await send(65_536)).toMatchObject({ status: 200 });
  expect(codeOf(await send(65_537))).toBe('body_not_kept');
});

it('keeps the whole of a body in memory without a folder', async () => {
  await using world = await openGuardWorld();
  const body = 'x'.repeat(65_537);
  expect(await world.raw(world.signed({ ...CALL, body }))).toMatchObject({ status: 200 });
  expect(world.seen[0]?.body.toString()).toBe(body);
});

it('a body that breaks off or is late is not spent', async () => {
  await using world = await openGuardWorld({ env: { GUARD_DEADLINE_MS: '300' } });
  const request = world.signed(CALL);
  expect((await world.raw(request.slice(0, -3))).status).toBe(408);
  using client = await rawClient(world.port);
  client.send(request.slice(0, -3));
  client.socket.end();
  await client.closed();
  expect(world.seen).toEqual([]);
  expect((await world.raw(request)).status).toBe(200);
});
