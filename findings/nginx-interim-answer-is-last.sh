#!/bin/sh
# nginx 1.22.1 (Debian 12) in front of a server that writes `103 Early Hints`: it takes the 103 for the answer. A client
# that asked for `Connection: close` reads a 103 with `Connection: close`, and what follows it is an error in Node
# (HPE_CLOSED_CONNECTION).
# Met by: applications that call res.writeEarlyHints() behind a distribution's nginx.
# Source: nginx's changes with 1.29.0 (interim answers of proxied servers); RFC 9110, 15.2.
set -eu
folder=$(mktemp -d)
trap 'kill "$nginx" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
nginx=
apt-get download nginx=1.22.1-9+deb12u11 >/dev/null 2>&1
dpkg-deb -x nginx_*.deb .
./usr/sbin/nginx -v
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@24.21.0
mkdir logs
cat >nginx.conf <<'CONF'
daemon off; master_process off; pid nginx.pid; error_log logs/error.log;
events {}
http {
  client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
  access_log off;
  server { listen 127.0.0.1:18743; location / { proxy_pass http://127.0.0.1:18744; proxy_http_version 1.1; proxy_set_header Connection ""; } }
}
CONF
./usr/sbin/nginx -p "$folder/" -c nginx.conf 2>logs/start & nginx=$!
cat >ask.mjs <<'JS'
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
const server = createServer((_req, res) => {
  res.writeEarlyHints({ link: '</a.css>; rel=preload' });
  res.end('done');
});
await once(server.listen(18744, '127.0.0.1'), 'listening');
for (let up = false; !up; ) up = await new Promise((done) => connect(18743, '127.0.0.1', () => done(true)).on('error', () => setTimeout(done, 50, false)));
const ask = (port) => new Promise((done) => {
  const asked = request({ host: '127.0.0.1', port, agent: false }, async (res) => done((await res.toArray()).join('')));
  asked.on('error', ({ code }) => done(code)).end();
});
const seen = { direct: await ask(18744), throughNginx: await ask(18743) };
console.log(seen);
process.exit(seen.direct === 'done' && seen.throughNginx === 'HPE_CLOSED_CONNECTION' ? 0 : 1);
JS
npx node ask.mjs
