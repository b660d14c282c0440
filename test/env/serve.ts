import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server on loopback. Disposing of it closes its connections. */
export interface Served<S extends Server> {
  readonly server: S;
  readonly port: number;
  /** `127.0.0.1:<port>` */
  readonly address: string;
  /** `http://<address>` */
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a server of any protocol. @param at the port; a free one by default */
export async function serve<S extends Server>(server: S, at = 0): Promise<Served<S>> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  await once(server.listen(at, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const address = `127.0.0.1:${port}`;
  return {
    server,
    port,
    address,
    url: `http://${address}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
