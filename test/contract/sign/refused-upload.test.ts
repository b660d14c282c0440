import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { head, openConnection, reasonIn } from '../raw-connection.ts';
import { useSignerWorld, V2_BODY } from '../signer-world.ts';

const world = await useSignerWorld();
const { issuer, tenants } = world;
const path = `/v1/interns/${tenants.internId}/daemon/sign`;
const token = `Authorization: Bearer ${await issuer.token()}`;
const json = 'Content-Type: application/json';
const GIB = 1_073_741_824;

const uploads: [string, number, string | undefined, string[]][] = [
  ['without a bearer', 401, undefined, [json]],
  ['with an unknown bearer', 401, undefined, ['Authorization: Bearer x', json]],
  ['with an API key', 403, 'personal_identity_required', [`Authorization: Bearer ${tenants.apiKey}`, json]],
  ['of another media type', 415, 'unsupported_media_type', [token, 'Content-Type: text/plain']],
  ['that is too large', 413, 'payload_too_large', [token, json]],
];

/** Writes endlessly, as fast as the server reads, until the connection closes. */
async function flood(url: string, start: string, framing: 'length' | 'chunked') {
  await using connection = await openConnection(url);
  const { socket } = connection;
  const block = Buffer.alloc(65_536, 0x20);
  const bytes =
    framing === 'length' ? block : Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]);
  connection.write(start);
  const pump = (async () => {
    for (let sent = 0; sent < GIB && !socket.destroyed && socket.writable; sent += block.length) {
      if (!socket.write(bytes))
        await Promise.race([once(socket, 'drain'), once(socket, 'close'), once(socket, 'error')]).catch(
          () => {},
        );
    }
  })();
  const answer = await connection.untilClosed();
  socket.destroy();
  await pump;
  return answer;
}

test.each(uploads)('an upload of 1 GiB %s costs less than 2 MiB', async (_, status, reason, lines) => {
  for (const framing of ['length', 'chunked'] as const) {
    const announced = framing === 'length' ? `Content-Length: ${GIB}` : 'Transfer-Encoding: chunked';
    const read = await bytesReadDuring(async () => {
      const answer = await flood(world.url, head(path, ...lines, announced), framing);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(answer).toMatch(/^connection: close/im);
      expect(reasonIn(answer)).toBe(reason);
    });
    expect(read).toHaveLength(1);
    expect(read[0]).toBeLessThan(2 * 1024 * 1024);
  }
});

/** The bytes that the signer, in this process, read from each connection of the call. */
async function bytesReadDuring(call: () => Promise<void>): Promise<number[]> {
  const sockets: Socket[] = [];
  const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  subscribe('net.server.socket', note);
  try {
    await call();
  } finally {
    unsubscribe('net.server.socket', note);
  }
  // The signer measures with empty connections of its own.
  return sockets.map((socket) => socket.bytesRead).filter((bytes) => bytes > 0);
}

test('a client that sends Expect gets 100 Continue once its credential and headers are accepted', async () => {
  await using connection = await openConnection(world.url);
  connection.write(head(path, token, json, `Content-Length: ${V2_BODY.length}`, 'Expect: 100-continue'));
  await connection.received(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  connection.write(V2_BODY);
  expect(await connection.received(/\r\n\r\n\{.*\}$/s)).toMatch(/HTTP\/1\.1 200 /);
});

test.each(uploads)('a client that sends Expect %s is refused instead', async (_, status, __, lines) => {
  await using connection = await openConnection(world.url);
  connection.write(head(path, ...lines, `Content-Length: ${GIB}`, 'Expect: 100-continue'));
  const answer = await connection.untilClosed();
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

test('a connection whose body was read stays open', async () => {
  await using connection = await openConnection(world.url);
  const request = head(path, token, json, `Content-Length: 2`);
  connection.write(`${request}{}`);
  await connection.received(/"invalid_body".*\}$/s);
  connection.write(`${request}[]`);
  const both = await connection.received(/"invalid_body".*"invalid_body".*\}$/s);
  expect(both).not.toMatch(/^connection: close/im);
});
