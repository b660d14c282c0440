#!/bin/sh
# Node 24.21.0, node:http. A header value above ASCII is sent as Latin-1 or as UTF-8, depending on the type of the body that follows it.
# With `end(string)` Node joins head and body to one string, and encodes both as UTF-8: `é` becomes two bytes, and a client that reads
# the header as Latin-1, as Node's own does, gets `Ã©`. With `end(buffer)` the head is Latin-1: one byte, and the client gets `é`.
# Who meets it: whoever signs, caches or compares a header (Content-Type, Content-Disposition) as it is sent.
# Seen: "string body: c3a9", "buffer body: e9". Source: lib/_http_outgoing.js, `_send`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . "node-linux-$(uname -m | sed 's/x86_64/x64/;s/aarch64/arm64/')@24.21.0" >/dev/null
node=$(echo "$folder"/node_modules/node-linux-*/bin/node)
cat >seen.mjs <<'JS'
import { createServer } from 'node:http';
import { connect } from 'node:net';
const seen = (body) => new Promise((resolve) => {
  const server = createServer((_, response) => response.setHeader('x-own', '\u00e9').end(body)).listen(0, '127.0.0.1', () => {
    const chunks = [];
    const socket = connect(server.address().port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nhost: d\r\nconnection: close\r\n\r\n'));
    socket.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
      resolve(/x-own: ([^\r]*)\r/i.exec(Buffer.concat(chunks).toString('latin1'))[1]);
      server.close();
    });
  });
});
for (const [name, body] of [['string', 'a'], ['buffer', Buffer.from('a')]])
  console.log(`${name} body: ${Buffer.from(await seen(body), 'latin1').toString('hex')}`);
JS
output=$("$node" seen.mjs)
echo "$output"
[ "$output" = "$(printf 'string body: c3a9\nbuffer body: e9')" ]
