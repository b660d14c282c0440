import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Pool } from 'undici';

// The least that a proxy in Node does: it reads the body, sends the same request to the daemon, and streams the answer.

const [daemonUrl = ''] = process.argv.slice(2);
const pool = new Pool(daemonUrl, { connections: 128 });

const server = createServer(async (req, res) => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  const { host: _, connection, ...headers } = req.headers;
  const { method = '', url: path = '' } = req;
  const {
    statusCode,
    headers: answered,
    body,
  } = await pool.request({
    ...{ method: method as 'POST', path, headers, body: Buffer.concat(chunks) },
  });
  res.writeHead(statusCode, answered as Record<string, string>);
  await pipeline(body, res);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
