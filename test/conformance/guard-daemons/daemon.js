import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

let calls = 0;
createServer(async (req, res) => {
  const user = req.headersDistinct['x-ori-verified-user'] ?? ['nobody'];
  calls += 1;
  res.end([calls, req.method, req.url, user.join(), await text(req)].join(' '));
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
