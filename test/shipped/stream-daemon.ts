import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A daemon in a process of its own, so that it has descriptors for as many streams as the guard. It reports its port, and
// writes a second event to every stream for each message.

const streams: ServerResponse[] = [];
const server = createServer((req, res) => {
  if (req.url === '/ready') return res.end();
  streams.push(res.writeHead(200, { 'content-type': 'text/event-stream' }));
  return res.write('data: first\n\n');
});
await once(server.listen(0, '127.0.0.1'), 'listening');
process.on('message', () => {
  for (const stream of streams) stream.write('data: second\n\n');
});
process.on('disconnect', () => process.exit());
process.send?.((server.address() as AddressInfo).port);
