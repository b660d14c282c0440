// Serves a module that exports a Fetch handler, as Hono, Next and Workers do: node serve.mjs MODULE PORT.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';

const [module, port] = process.argv.slice(2);
const daemon = await import(module);
const handle = daemon.POST ?? daemon.default.fetch;

createServer(async (req, res) => {
  const { method, headers, url } = req;
  const request = new Request(`http://${headers.host}${url}`, {
    method,
    headers,
    body: Readable.toWeb(req),
    duplex: 'half',
  });
  const response = await handle(request, {});
  res.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
}).listen(Number(port), '127.0.0.1');
