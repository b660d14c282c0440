import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { freePort } from '../env/ports.ts';
import { findProgram, openRoom } from '../env/room.ts';
import { ServerProcess } from '../env/server-process.ts';
import type { ForeignProvider } from './foreign-providers.ts';

/** Debian's package `glewlwyd`. Undefined if it is not installed. */
export const GLEWLWYD = findProgram('glewlwyd');

const SAMPLES = '/usr/share/doc/glewlwyd';
const ADMIN = { username: 'admin', password: 'password' };
const OTHER = 'https://other.corp.test/v1';
const CLIENT = 'ori-cli';
const SCOPE = 'openid vault:read interns';
/** Of each token: a client cannot have a time of its own. */
const TOKEN_SECONDS = 10;

/** With its sample configuration and SQLite, set up over its administration API as the README's table says. */
export async function startGlewlwyd(program: string, audience: string): Promise<ForeignProvider> {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-glewlwyd'));
  const [port, redirectPort] = await Promise.all([freePort(), freePort()]);
  const url = `http://127.0.0.1:${port}`;
  const issuer = `${url}/api/oidc`;
  const [configuration, database] = [join(room.directory, 'conf'), join(room.directory, 'db')];
  const subject = randomUUID();
  execFileSync('sqlite3', [database], {
    input: `${sample('database/init.sqlite3.sql.gz')}
      INSERT INTO gpo_subject_identifier (gposi_plugin_name, gposi_username, gposi_sub) VALUES ('oidc', 'ada', '${subject}');`,
  });
  const settings = Object.entries({
    port,
    external_url: url,
    cookie_domain: '127.0.0.1',
    cookie_secure: 0,
    path: database,
  }).reduce(
    (text, [name, value]) =>
      text.replace(new RegExp(`^( *)${name} *=.*$`, 'm'), `$1${name}=${JSON.stringify(value)}`),
    sample('glewlwyd.conf.sample.gz').replace(/^#bind_address.*$/m, 'bind_address="127.0.0.1"'),
  );
  writeFileSync(configuration, settings);
  const server = new ServerProcess({
    room,
    program,
    arguments: ['--config-file', configuration],
    ready: /Glewlwyd started/,
    farewell: 'KILL',
  });
  await server.start();
  stack.defer(() => server.end('SIGKILL'));
  // It says so just before it listens.
  const isListening = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  while (!(await isListening())) await pause(20);

  const ask = async (method: string, path: string, cookie: string, body?: object): Promise<Response> => {
    const answer = await fetch(`${url}/api/${path}`, {
      method,
      headers: { cookie, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`Glewlwyd answered ${answer.status} at ${path}: ${await answer.text()}`);
    return answer;
  };
  const signIn = async (person: object): Promise<string> => {
    const { headers } = await ask('POST', 'auth/', '', person);
    return headers.getSetCookie()[0]?.split(';')[0] ?? '';
  };

  const admin = await signIn(ADMIN);
  for (const name of ['vault:read', 'interns']) {
    await ask('POST', 'scope/', admin, { name, display_name: name, password_required: true });
  }
  const ada = { username: 'ada', password: randomUUID() };
  await ask('POST', 'user/', admin, { ...ada, name: 'Ada', enabled: true, scope: SCOPE.split(' ') });
  await ask('POST', 'client/', admin, {
    client_id: CLIENT,
    name: CLIENT,
    enabled: true,
    confidential: false,
    authorization_type: ['code', 'refresh_token'],
    redirect_uri: [`http://127.0.0.1:${redirectPort}/callback`, 'http://127.0.0.1/callback'],
    token_endpoint_auth_method: ['none'],
  });
  const keys: JWK[] = [];
  const addKey = async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    keys.unshift({ ...(await exportJWK(privateKey)), kid: `key-${keys.length}`, alg: 'ES256', use: 'sig' });
    return plugin(issuer, [audience, OTHER], keys);
  };
  await ask('POST', 'mod/plugin/', admin, await addKey());
  const owned = stack.move();
  const request = { clientId: CLIENT, scope: SCOPE };
  return {
    issuer,
    subject,
    settings: { audience, clients: [CLIENT], signIn: { redirectPort } },
    requests: {
      own: { ...request, resource: audience },
      foreign: { ...request, resource: OTHER },
      brief: { ...request, resource: audience },
    },
    refusesRevocation: true,
    async rotateKey() {
      // It reads its parameters when it is added.
      await ask('DELETE', 'mod/plugin/oidc', admin);
      await ask('POST', 'mod/plugin/', admin, await addKey());
    },
    /** Its pages are scripts, which ask this API. */
    async visit(authorization) {
      const cookie = await signIn(ada);
      await ask('PUT', `auth/grant/${CLIENT}`, cookie, { scope: SCOPE });
      const { headers } = await fetch(`${authorization}&g_continue`, {
        headers: { cookie },
        redirect: 'manual',
      });
      return new URL(headers.get('location') ?? '');
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Signs with the first key, and publishes all. */
const plugin = (issuer: string, resources: readonly string[], keys: readonly JWK[]) => ({
  module: 'oidc',
  name: 'oidc',
  display_name: 'oidc',
  enabled: true,
  parameters: {
    iss: issuer,
    'jwks-show': true,
    'jwks-private': JSON.stringify({ keys }),
    'access-token-duration': TOKEN_SECONDS,
    'refresh-token-duration': 3600,
    'code-duration': 60,
    'auth-type-code-enabled': true,
    'auth-type-refresh-enabled': true,
    'pkce-allowed': true,
    'pkce-required': true,
    'oauth-dpop-allowed': true,
    'oauth-dpop-iat-duration': 60,
    'resource-allowed': true,
    'resource-scope': Object.fromEntries(SCOPE.split(' ').map((scope) => [scope, resources])),
    'introspection-revocation-allowed': true,
  },
});

const sample = (name: string): string => gunzipSync(readFileSync(join(SAMPLES, name))).toString();
