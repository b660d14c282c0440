import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A daemon behind a proxy: reads the body, and answers with the verified user. It checks nothing, and reports its port.

const server = createServer((req, res) => {
  const user = String(req.headers['x-ori-verified-user'] ?? 'nobody');
  req.resume().on('end', () => res.writeHead(200, { 'Content-Length': user.length }).end(user));
}).listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
