#!/bin/sh
# Varnish 7.1.1 (Debian 12) with `return (pass)`: a POST without a body, whose backend closes a kept connection instead of
# answering, is sent to it a second time, and then told as 503. A `103 Early Hints` of the backend, and an answer with
# a trailer, are 503 too. With `return (pipe)` none of these happens.
# Met by: triggers and questions without a body behind Varnish: they are carried out twice. RFC 9110, 9.2.2: a proxy MUST NOT
# retry a request whose method is not idempotent.
# Source: RFC 9110, 9.2.2; seen with the servers below. Needs a C compiler, for VCL.
set -eu
folder=$(mktemp -d)
proxy=
trap 'kill $proxy 2>/dev/null || true; sleep 1; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download varnish=7.1.1-2+deb12u1 libvarnishapi3=7.1.1-2+deb12u1 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" .; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@24.21.0
export LD_LIBRARY_PATH="$folder/usr/lib/$(uname -m)-linux-gnu:$folder/usr/lib/$(uname -m)-linux-gnu/varnish"
./usr/sbin/varnishd -V 2>&1 | head -1
printf 'vcl 4.1;\nbackend b { .host = "127.0.0.1"; .port = "18748"; }\nsub vcl_recv { return (pass); }\n' >pass.vcl
./usr/sbin/varnishd -j none -F -a 127.0.0.1:18747 -f "$folder/pass.vcl" -n "$folder/run" >log 2>&1 & proxy=$!
cat >ask.mjs <<'JS'
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
const ANSWERS = {
  '/warm': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  '/early': 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  '/trailer': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\n\r\n',
};
let received = 0;
const server = createServer((socket) => socket.on('error', () => {}).on('data', (chunk) => {
  const [, path] = String(chunk).split(' ');
  if (ANSWERS[path]) return socket.write(ANSWERS[path]);
  received += 1;
  socket.destroy();
}));
await once(server.listen(18748, '127.0.0.1'), 'listening');
const ask = (method, path) => new Promise((done) => {
  let text = '';
  const socket = connect(18747, '127.0.0.1', () => socket.write(`${method} ${path} HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`));
  socket.on('data', (chunk) => { text += chunk; }).on('error', () => setTimeout(done, 100)).on('close', () => done(text.split(' ')[1]));
});
for (let tries = 0; (await ask('GET', '/warm')) !== '200' && tries < 100; tries += 1);
const seen = { post: await ask('POST', '/lost'), received, early: await ask('GET', '/early'), trailer: await ask('GET', '/trailer') };
console.log(seen);
process.exit(JSON.stringify(seen) === '{"post":"503","received":2,"early":"503","trailer":"503"}' ? 0 : 1);
JS
npx node ask.mjs
