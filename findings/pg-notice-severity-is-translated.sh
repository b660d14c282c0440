#!/bin/sh
# pg 8.23.1: the `severity` of a notice and of an error is the field S of PostgreSQL's protocol, which the server
# translates (lc_messages); the field V, which is never translated since PostgreSQL 9.6, is not read. `code` and
# `routine` are not translated either.
# Met by: programs that compare `notice.severity === 'WARNING'`: they see nothing from a German or French server.
# Source: PostgreSQL's documentation, "Error and Notice Message Fields"; seen with lc_messages = de_DE.UTF-8. The server
# here is a few lines that send the same bytes, so that no locale has to be generated.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund pg@8.23.1
cat >ask.mjs <<'JS'
import { createServer } from 'node:net';
import pg from 'pg';
const message = (type, body) => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const ready = message('Z', Buffer.from('I'));
const notice = message('N', Buffer.from('SWARNUNG\0VWARNING\0C01000\0MHinweis\0RSyncRepWaitForLSN\0\0'));
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]));
    socket.on('data', (bytes) => {
      if (bytes[0] === 0x51) socket.write(Buffer.concat([notice, message('C', Buffer.from('SELECT 0\0')), ready]));
    });
  });
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const client = new pg.Client({ host: '127.0.0.1', port: server.address().port, user: 'a', database: 'a', ssl: false });
let seen;
client.on('notice', (given) => (seen = given));
await client.connect();
await client.query('select');
await client.end();
server.close();
console.log({ severity: seen.severity, code: seen.code, routine: seen.routine, has: Object.values(seen).includes('WARNING') });
process.exit(seen.severity === 'WARNUNG' && !Object.values(seen).includes('WARNING') ? 0 : 1);
JS
node ask.mjs
