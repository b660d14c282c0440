#!/bin/sh
# fastify 5.12.8: a POST to a path that no route has is answered with 404, but with 400 (FST_ERR_CTP_EMPTY_JSON_BODY) if its
# body is empty and its Content-Type is application/json: the body parser runs before the handler of unknown paths. Express
# and Hono answer 404 to both.
# Met by: clients that probe an optional endpoint with a POST without a body and take 404 for "not supported here".
# Source: the run below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund fastify@5.12.8
cat >run.mjs <<'JS'
import { fastify } from 'fastify';
const app = fastify();
app.post('/known', async () => 'ok');
const post = (payload) =>
  app.inject({ method: 'POST', url: '/unknown', headers: { 'content-type': 'application/json' }, payload });
const [empty, filled] = [await post(''), await post('{}')];
console.log(`empty: ${empty.statusCode} ${empty.json().code}; {}: ${filled.statusCode}`);
process.exit(empty.statusCode === 400 && filled.statusCode === 404 ? 0 : 1);
JS
node run.mjs
