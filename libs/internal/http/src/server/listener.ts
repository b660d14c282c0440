import type { Server } from 'node:http';
import { createServer, type ListenOptions, Server as NetServer } from 'node:net';

/** Node accepts one connection per turn of the event loop and listening socket. Several sockets let a burst wait for fewer turns. */
const SOCKETS = process.platform === 'linux' ? 8 : 1;

/** Listens with several sockets on one port (SO_REUSEPORT), and passes every connection to one server. */
export function createListener(server: Server, { allowHalfOpen }: { allowHalfOpen: boolean }) {
  const others = Array.from({ length: SOCKETS - 1 }, () =>
    createServer({ allowHalfOpen, noDelay: true }, (socket) => server.emit('connection', socket)),
  );
  return {
    /** @returns the port */
    async open(port: number, host: string): Promise<number> {
      const reusePort = SOCKETS > 1;
      if (reusePort && port !== 0) await requireFree(port, host);
      const actual = await listen(server, { port, host, reusePort });
      await Promise.all(others.map((other) => listen(other, { port: actual, host, reusePort })));
      return actual;
    },
    /** Stops listening. Resolves once the last connection has ended. */
    async close(): Promise<void> {
      await Promise.all([server, ...others].map(closeListener));
    },
  };
}

export type Listener = ReturnType<typeof createListener>;

/** SO_REUSEPORT would also share the port with another service that sets it. That must remain an error. */
async function requireFree(port: number, host: string): Promise<void> {
  const alone = createServer();
  await listen(alone, { port, host });
  await closeListener(alone);
}

function listen(server: NetServer, options: ListenOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** Not `server.close` of node:http, which closes idle connections immediately and stops its timers. */
function closeListener(server: NetServer): Promise<void> {
  return new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
}
