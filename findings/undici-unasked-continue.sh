#!/bin/sh
# undici 8.13.1: an interim `100 Continue` that the request did not ask for ends the connection with an error, although
# the final answer follows it; node:http of the same Node reads both. RFC 9110, 15.2: a client MUST be able to parse
# interim responses even if it does not expect one.
# Met by: proxies on undici in front of servers that send 100 to every request with a body; the call was carried out.
# Source: RFC 9110, 15.2; seen with a server that writes 100 before it reads a body.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund undici@8.13.1 node@24.21.0
cat >ask.mjs <<'JS'
import { request as plain } from 'node:http';
import { createServer } from 'node:net';
import { request } from 'undici';
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () =>
    socket.end('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'));
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const url = `http://127.0.0.1:${server.address().port}/`;
const byUndici = await request(url, { method: 'POST', body: 'a' }).then(({ statusCode }) => statusCode, (error) => error.code);
const byNode = await new Promise((done) => plain(url, { method: 'POST' }, (res) => done(res.resume().statusCode)).end('a'));
console.log({ byUndici, byNode });
process.exit(byUndici === 200 || byNode !== 200 ? 1 : 0);
JS
npx node ask.mjs
