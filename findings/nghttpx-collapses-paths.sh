#!/bin/sh
# nghttpx 1.52.0 (Debian 12) as a reverse proxy with an HTTP/1.1 backend: it decodes and collapses the path of each
# request before it passes it on: `//a` arrives as `/a`, `/%41` as `/A`, `/./x` as `/x`.
# Met by: whoever signs the request-target, or serves paths in which `%2e`, `//` or `.` mean something.
# Source: seen with the configuration below; RFC 9112, 3.2.1 (a proxy to an origin passes the absolute path on).
set -eu
folder=$(mktemp -d)
proxy=
trap 'kill $proxy 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download nghttp2-proxy=1.52.0-1+deb12u3 >/dev/null 2>&1
dpkg-deb -x nghttp2-proxy_*.deb .
./usr/sbin/nghttpx --version
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@24.21.0
./usr/sbin/nghttpx -f'127.0.0.1,18745;no-tls' -b127.0.0.1,18746 >/dev/null 2>&1 & proxy=$!
cat >ask.mjs <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
await once(createServer((req, res) => res.end(req.url)).listen(18746, '127.0.0.1'), 'listening');
const ask = (path) => new Promise((done) => {
  let text = '';
  const socket = connect(18745, '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`));
  socket.on('data', (chunk) => { text += chunk; }).on('error', () => setTimeout(done, 50)).on('close', () => done(text.split('\r\n\r\n')[1]));
});
for (let tries = 0; (await ask('/')) === undefined && tries < 100; tries += 1);
const seen = {};
for (const path of ['//a', '/%41', '/./x', '/a?b']) seen[path] = await ask(path);
console.log(seen);
process.exit(JSON.stringify(Object.values(seen)) === '["/a","/A","/x","/a?b"]' ? 0 : 1);
JS
npx node ask.mjs
