#!/bin/sh
# Node 24.21.0: what has arrived of an answer is lost, by node:http and by fetch, if the connection breaks before its body is read. Read at
# once, the same answer gives its first event and then the error; read 200 ms later, the error alone.
# Who meets it: programs that await something between the head of an answer and its body, such as a look-up, and show what came.
# Source: seen here; a stream that is destroyed drops what it buffered (Node's documentation of readable.destroy).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@24.21.0
cat >late.mjs <<'JS'
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
const server = createServer((_req, res) => {
  res.write('data: 1\n\n');
  setTimeout(() => res.destroy(), 50);
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const url = `http://127.0.0.1:${server.address().port}/`;
async function read(body) {
  let bytes = 0;
  try {
    for await (const chunk of body) bytes += chunk.length;
  } catch (error) {
    return `${bytes} bytes, ${error.code ?? error.message}`;
  }
  return `${bytes} bytes`;
}
const seen = [];
for (const ms of [0, 200]) {
  const [answer] = await once(get(url, { agent: false }), 'response');
  answer.on('error', () => undefined);
  if (ms > 0) await pause(ms);
  seen.push(await read(answer));
  const { body } = await fetch(url);
  if (ms > 0) await pause(ms);
  seen.push(await read(body));
}
console.log(seen);
const expected = ['9 bytes, ECONNRESET', '9 bytes, terminated', '0 bytes, ECONNRESET', '0 bytes, terminated'];
process.exit(String(seen) === String(expected) ? 0 : 1);
JS
npx node late.mjs
