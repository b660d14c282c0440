#!/bin/sh
# @redis/client 6.3.1: `socketTimeout` does not end a connection that has fallen silent while the program goes on sending:
# it is Node's idle timer of the socket, which each write winds up again. With 500 ms, a command every 100 ms and a
# server that answers nothing more, the client neither fails a command nor reconnects in 3 s.
# Met by: services behind a NAT or a load balancer that forgets connections without a FIN: the busier, the longer.
# Source: Node's documentation of socket.setTimeout ("activity" is either direction); seen with a silenced proxy.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @redis/client@6.3.1
cat >ask.mjs <<'JS'
import { createServer } from 'node:net';
import { createClient } from '@redis/client';
let connections = 0, silent = false;
const server = createServer((socket) => {
  connections += 1;
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    if (silent) return;
    // One answer for each command of the handshake and for PING.
    for (const _ of bytes.toString().matchAll(/^\*\d+\r\n/gm)) socket.write('+OK\r\n');
  });
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const client = createClient({ RESP: 2, socket: { port: server.address().port, host: '127.0.0.1', socketTimeout: 500 } });
const errors = [];
client.on('error', (error) => errors.push(error.message));
await client.connect();
await client.ping();
silent = true;
let settled = 0;
const timer = setInterval(() => client.ping().then(() => (settled += 1), () => (settled += 1)), 100);
await new Promise((done) => setTimeout(done, 3000));
clearInterval(timer);
console.log({ connections, settled, errors });
process.exit(connections === 1 && settled === 0 && errors.length === 0 ? 0 : 1);
JS
node ask.mjs
