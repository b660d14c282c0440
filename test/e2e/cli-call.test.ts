import { writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serve } from '../env/serve.ts';
import { INTERN_ID, listen, openSignedInWorld } from './cli-world.ts';

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
  // The key set may be read before.
  const signed = world.requests.find(({ body }) => body !== '');
  expect(JSON.parse(signed?.body ?? '').route).toEqual({ method: 'POST', path });
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

it('does not quote a malformed TRACEPARENT, which a new trace replaces', async () => {
  await using daemon = await startRawDaemon();
  const call = ['call', INTERN_ID, '/', '--data', '{}', '--daemon', daemon.url, '--verbose'];
  const { exit, stdout, stderr } = await home.ori(call, { env: { TRACEPARENT: 'canary-secret' } });
  expect([exit, stdout]).toEqual([0, 'ok']);
  expect(stderr).toContain('Trace ');
  expect(stderr).not.toContain('canary');
});
