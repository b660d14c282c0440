import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

type Reply = string | number | Error | readonly Reply[];

export interface ScriptedRedis extends Disposable {
  readonly port: number;
  /** The commands received so far, in lower case. */
  readonly asked: string[];
}

/** A server that speaks the protocol of Redis, with the replies of a function; an empty list where it has none. */
export async function startScriptedRedis(
  reply: (command: readonly string[]) => Reply | undefined,
  tls?: TlsOptions,
): Promise<ScriptedRedis> {
  const asked: string[] = [];
  const serve = (socket: Socket) => {
    socket.on('error', () => {});
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      for (const command of chunk.split(/(?=\*\d+\r\n)/)) {
        const words = command.split('\r\n').filter((_line, index) => index > 0 && index % 2 === 0);
        asked.push(words.join(' ').toLowerCase());
        if (words[0]?.toLowerCase() === 'hello') socket.write('%1\r\n$5\r\nproto\r\n:3\r\n');
        else socket.write(encode(reply(words) ?? []));
      }
    });
  };
  const server = tls === undefined ? createTcpServer(serve) : createTlsServer(tls, serve);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, asked, [Symbol.dispose]: () => void server.close() };
}

function encode(reply: Reply): string {
  if (reply instanceof Error) return `-${reply.message}\r\n`;
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (typeof reply === 'string') return `$${reply.length}\r\n${reply}\r\n`;
  return `*${reply.length}\r\n${reply.map(encode).join('')}`;
}
