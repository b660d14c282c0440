import { once } from 'node:events';
import { connect } from 'node:tls';
import type { Gateway } from '../env/gateway.ts';

/** One header field, one character per byte, valid in HTTP/2 or not. */
export type Field = readonly [name: string, value: string];

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const TYPE = { data: 0, headers: 1, resetStream: 3, settings: 4, goAway: 7 } as const;
const END_STREAM = 1;
const END_HEADERS = 4;

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A literal that is not indexed, without Huffman coding (RFC 7541, section 6.2.2). */
function literal([name, value]: Field): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

function text(characters: string): Buffer {
  const bytes = Buffer.from(characters, 'latin1');
  if (bytes.length >= 127 + 128) throw new TypeError('longer than a two-byte length allows');
  const length = bytes.length < 127 ? [bytes.length] : [127, bytes.length - 127];
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** Sends one request as hand-made frames and waits until the gateway answers, resets the stream, or closes the connection. */
export async function askByFrames(gateway: Gateway, fields: readonly Field[], body: string): Promise<void> {
  const { securePort: port, certificate: ca } = gateway;
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ALPNProtocols: ['h2'] });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  socket.write(PREFACE);
  socket.write(frame(TYPE.settings, 0, 0, Buffer.alloc(0)));
  socket.write(frame(TYPE.headers, END_HEADERS, 1, Buffer.concat(fields.map(literal))));
  socket.write(frame(TYPE.data, END_STREAM, 1, Buffer.from(body, 'latin1')));
  let received = Buffer.alloc(0);
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (isOver(received)) resolve();
    });
  });
  socket.destroy();
}

/** Whether a received frame ends the stream or the connection. */
function isOver(bytes: Buffer): boolean {
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    const type = bytes.readUInt8(at + 3);
    const ends =
      (bytes.readUInt8(at + 4) & END_STREAM) !== 0 && (type === TYPE.data || type === TYPE.headers);
    if (ends || type === TYPE.resetStream || type === TYPE.goAway) return true;
  }
  return false;
}
