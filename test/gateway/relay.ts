import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Forwards bytes unchanged in both directions and records what the gateway sent. */
export interface Relay extends AsyncDisposable {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  /** The bytes sent to the service since the last call, one string per connection. */
  take(): string[];
}

export async function startRelay(address: string): Promise<Relay> {
  const [host, port] = address.split(':');
  const sent = new Map<Socket, string>();
  const server = createServer((near) => {
    const far = connect(Number(port), host);
    for (const socket of [near, far]) socket.on('error', () => {});
    near.on('data', (chunk) => sent.set(near, (sent.get(near) ?? '') + chunk.toString('latin1')));
    near.pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
    open.add(near);
    near.once('close', () => open.delete(near));
  });
  const open = new Set<Socket>();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = [...sent.values()];
      sent.clear();
      return taken;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
