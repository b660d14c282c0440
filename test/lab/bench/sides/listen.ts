import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Longer than the turns of the other sides: a connection that closes as a proxy reuses it would end the row. */
const keepAliveTimeout = 60_000;

/** Serves until the parent process exits, which is told the port. */
export function listen(handler: RequestListener): void {
  const server = createServer({ keepAliveTimeout }, handler).listen(0, '127.0.0.1', () => {
    process.send?.((server.address() as AddressInfo).port);
  });
  process.on('disconnect', () => process.exit());
}
