import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

createServer(async (req, res) => {
  const user = req.headersDistinct['x-ori-verified-user'] ?? ['nobody'];
  res.end([req.method, req.url, user.join(), await text(req)].join(' '));
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
