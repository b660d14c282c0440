#!/bin/sh
# openid-client 6.9.0: a token endpoint that answers an unknown client with 401, `WWW-Authenticate: Basic` and the JSON
# error object, as RFC 6749, 5.2 asks, is reported as "server responded with a challenge". The error has neither
# `error` nor `error_description`; both are in `error.response`, whose body nobody has read yet.
# Met by: whoever shows people why a sign-in or a renewal failed: `invalid_client` and the provider's sentence are lost.
# Source: RFC 6749, 5.2; seen with providers that authenticate clients by Basic.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openid-client@6.9.0
cat >ask.mjs <<'JS'
import { createServer } from 'node:http';
import * as client from 'openid-client';
const server = createServer((req, res) => {
  res.writeHead(401, { 'www-authenticate': 'Basic realm="token"', 'content-type': 'application/json' });
  res.end(JSON.stringify({ error: 'invalid_client', error_description: 'client is not registered' }));
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const issuer = `http://127.0.0.1:${server.address().port}`;
const configuration = new client.Configuration({ issuer, token_endpoint: `${issuer}/token` }, 'a', {}, client.ClientSecretBasic('b'));
client.allowInsecureRequests(configuration);
const error = await client.refreshTokenGrant(configuration, 'c').catch((thrown) => thrown);
const body = await error.response?.json();
console.log(error.constructor.name, '| error:', error.error, '| unread body:', body?.error, '-', body?.error_description);
server.close();
process.exit(error.error === undefined && body?.error === 'invalid_client' ? 0 : 1);
JS
node ask.mjs
