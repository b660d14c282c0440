import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Served, serve } from '../env/serve.ts';

/** Forwards bytes unchanged in both directions and records what the gateway sent. */
export interface Relay extends Served<Server> {
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
  });
  return {
    ...(await serve(server)),
    take() {
      const taken = [...sent.values()];
      sent.clear();
      return taken;
    },
  };
}
