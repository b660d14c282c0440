#!/bin/sh
# Node 24.21.0, node:http. response.writeHead(status, [[name, value], …]), a list of pairs, is accepted on a fresh response and sent.
# After any response.setHeader() on the same response, the same list throws
#   a TypeError: ERR_INVALID_ARG_VALUE for an odd number of pairs, for an even one that a name must be a string,
# while a flat list [name, value, …] and an object are merged with what was set.
# Who meets it: middleware that sets one header (a request id, a marker) in front of a handler that passes pairs, such as
# [...headers] of a Fetch Response. Source: lib/_http_server.js, writeHead; seen while marking recorded answers.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" node@24.21.0 >/dev/null
cat >try.mjs <<'JS'
import { ServerResponse } from 'node:http';
const forms = { pairs: [['x-a', '1']], flat: ['x-a', '1'], object: { 'x-a': '1' } };
const seen = {};
for (const isSet of [false, true])
  for (const [name, form] of Object.entries(forms)) {
    const response = new ServerResponse({ method: 'GET', httpVersionMajor: 1, httpVersionMinor: 1 });
    if (isSet) response.setHeader('x-b', '2');
    try {
      response.writeHead(200, form);
      seen[`${name}${isSet ? ' after setHeader' : ''}`] = 'sent';
    } catch (error) {
      seen[`${name}${isSet ? ' after setHeader' : ''}`] = error.code;
    }
  }
console.log(JSON.stringify(seen));
JS
seen=$(./node_modules/.bin/node try.mjs)
echo "$seen"
[ "$seen" = '{"pairs":"sent","flat":"sent","object":"sent","pairs after setHeader":"ERR_INVALID_ARG_VALUE","flat after setHeader":"sent","object after setHeader":"sent"}' ]
