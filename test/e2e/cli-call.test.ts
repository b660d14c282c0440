import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { serve } from '../env/serve.ts';
import { INTERN_ID, listen, openSignedInWorld, send } from './cli-world.ts';

const MIB = 1024 * 1024;
const { world, home } = await openSignedInWorld();

/** A daemon that records the raw bytes of each request. */
async function startRawDaemon() {
  const requests: string[] = [];
  const server = createServer((socket: Socket) => {
    let bytes = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      bytes += chunk;
      const [head = '', body] = bytes.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      requests.push(bytes);
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok');
    });
  });
  return { ...(await serve(server)), requests };
}

it.each([
  '/api/invoke',
  '/',
  '//api//invoke',
  '/a/../b/./c',
  '/%2e%2e/%2F%2f/%41',
  '/a%20b%zz%',
  '/back\\slash',
  '/"<>^`{|}',
  "/semi;colon,comma'quote!$&()*+=:@[]",
  '/trailing/',
  '/http://evil.example/',
  `/${'x'.repeat(2047)}`,
])('sends the path byte for byte as it was signed: %s', async (path) => {
  await using daemon = await startRawDaemon();
  world.requests.length = 0;
  const called = await home.ori(['call', INTERN_ID, path, '--data', 'b', '--daemon', daemon.url]);
  expect(called).toEqual({ exit: 0, stdout: 'ok', stderr: '' });
  expect(daemon.requests[0]?.split('\r\n')[0]).toBe(`POST ${path} HTTP/1.1`);
  expect(JSON.parse(world.requests[0]?.body ?? '').route).toEqual({ method: 'POST', path });
});

// SPEC.md C1, C3.
it('sends the proof, the media type, the length and the body, and no credentials', async () => {
  await using daemon = await startRawDaemon();
  await home.ori(['call', INTERN_ID, '/api/invoke', '--daemon', daemon.url], { stdin: '{"prompt":"grüß"}' });
  const [head = '', body = ''] = daemon.requests[0]?.split('\r\n\r\n') ?? [];
  expect(Buffer.from(body, 'latin1').toString()).toBe('{"prompt":"grüß"}');
  const headers = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(': ')[0]?.toLowerCase());
  expect(headers.toSorted()).toEqual([
    'accept',
    'connection',
    'content-length',
    'content-type',
    'host',
    'idempotency-key',
    'traceparent',
    'user-agent',
    'x-ori-invoke-nonce',
    'x-ori-invoke-signature',
    'x-ori-invoke-signature-v2',
    'x-ori-invoke-timestamp',
    'x-ori-invoke-user',
  ]);
  expect(head).toContain('content-type: application/json\r\n');
  const { access_token: token } = await home.session();
  expect(head).not.toContain(token);
});

it('aborts the call if the file changed after it was signed; the daemon gets no complete request', async () => {
  const file = join(home.folder, 'changing');
  await writeFile(file, Buffer.alloc(3 * MIB, 'a'));
  let whole = 0;
  const daemon = await listen(async (req, res) => {
    req.on('end', () => (whole += req.complete ? 1 : 0)).on('error', () => {});
    req.resume();
    res.on('error', () => {});
  });
  world.beforeSigning = () => writeFile(file, Buffer.alloc(3 * MIB, 'b'));
  const result = await home.ori(['call', INTERN_ID, '/', '--file', file, '--daemon', daemon.url]);
  world.beforeSigning = () => {};
  await daemon.stop();
  expect(result).toMatchObject({ exit: 1, stdout: '' });
  expect(result.stderr).toContain('changed between hashing and sending');
  expect(whole).toBe(0);
});

it.each(['file', 'stdin'])('streams a %s through less memory than it has bytes', async (source) => {
  const file = join(home.folder, 'large');
  await writeFile(file, '');
  await truncate(file, 200 * MIB);
  await appendFile(file, 'not only zeros');
  const digest = createHash('sha256');
  let pid = 0;
  let peakKib = 0;
  await using daemon = await listen(async (req, res) => {
    // A sender without backpressure would read everything into memory.
    await untilIdle(pid);
    for await (const chunk of req) digest.update(chunk);
    peakKib = Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
    send(res, { status: 200, body: digest.digest('hex') });
  });
  const args = ['call', INTERN_ID, '/', '--daemon', daemon.url];
  const running =
    source === 'file'
      ? home.start([...args, '--file', file])
      : home.start(args, { stdinFile: file, env: { TMPDIR: home.folder } });
  pid = running.child.pid ?? 0;
  const { exit, stdout } = await running.result;
  expect(exit).toBe(0);
  expect(JSON.parse(world.requests.at(-1)?.body ?? '').bodySha256).toBe(JSON.parse(stdout));
  expect(peakKib).toBeGreaterThan(0);
  expect(peakKib).toBeLessThan(192 * 1024);
});

/** Resolves when the process has stopped reading. */
async function untilIdle(pid: number): Promise<void> {
  const readSoFar = async () => /rchar: \d+/.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[0];
  for (let before = ''; ; ) {
    const now = (await readSoFar()) ?? '';
    if (now === before) return;
    before = now;
    await pause(400);
  }
}

it('streams the response as it arrives', async () => {
  let finish = () => {};
  await using daemon = await listen((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
    finish = () => res.end('data: last\n\n');
  });
  const running = home.start(['call', INTERN_ID, '/', '--data', '', '--daemon', daemon.url]);
  const [first] = await once(createInterface(running.child.stdout as Readable), 'line');
  expect(first).toBe('data: first');
  finish();
  expect(await running.result).toMatchObject({ exit: 0, stdout: 'data: first\n\ndata: last\n\n' });
});
