import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves until the parent process exits, which is told the port. */
export function listen(handler: RequestListener): void {
  const server = createServer(handler).listen(0, '127.0.0.1', () => {
    process.send?.((server.address() as AddressInfo).port);
  });
  process.on('disconnect', () => process.exit());
}
