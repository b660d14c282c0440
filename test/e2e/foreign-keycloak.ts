import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '../env/ports.ts';
import { openRoom } from '../env/room.ts';
import { ServerProcess } from '../env/server-process.ts';
import type { ForeignProvider } from './foreign-providers.ts';
import { visitForms } from './foreign-visit.ts';

const REALM = 'corp';
const AUDIENCE = 'https://api.corp.test/v1';
const SCOPE = 'openid vault:read interns';

/** From its distribution, set up over its administration API as the README's table says. */
export async function startKeycloak(home: string): Promise<ForeignProvider> {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-keycloak'));
  const port = await freePort();
  const [admin, password] = ['admin', randomBytes(12).toString('hex')];
  const server = new ServerProcess({
    room,
    program: join(home, 'bin/kc.sh'),
    arguments: ['start-dev', '--db=dev-mem', '--http-host=127.0.0.1', `--http-port=${port}`],
    ready: /Listening on:/,
    farewell: 'KILL',
    environment: {
      KC_BOOTSTRAP_ADMIN_USERNAME: admin,
      KC_BOOTSTRAP_ADMIN_PASSWORD: password,
      JAVA_OPTS_APPEND: '-XX:TieredStopAtLevel=1',
    },
  });
  await server.start();
  stack.defer(() => server.killFamily());
  const url = `http://127.0.0.1:${port}`;

  async function post(path: string, body: object | URLSearchParams, token?: string): Promise<unknown> {
    const isForm = body instanceof URLSearchParams;
    const headers = {
      ...(isForm ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const answer = await fetch(url + path, {
      method: 'POST',
      headers,
      body: isForm ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Keycloak answered ${answer.status} at ${path}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
  const login = { grant_type: 'password', client_id: 'admin-cli', username: admin, password };
  const granted = await post('/realms/master/protocol/openid-connect/token', new URLSearchParams(login));
  const { access_token: token } = granted as { access_token: string };
  const ada = {
    username: 'ada',
    email: 'ada@corp.test',
    firstName: 'Ada',
    lastName: 'L',
    emailVerified: true,
  };
  await post('/admin/realms', { realm: REALM, enabled: true }, token);
  for (const name of ['vault:read', 'interns']) {
    const attributes = { 'include.in.token.scope': 'true' };
    await post(
      `/admin/realms/${REALM}/client-scopes`,
      { name, protocol: 'openid-connect', attributes },
      token,
    );
  }
  const credentials = [{ type: 'password', value: password, temporary: false }];
  await post(`/admin/realms/${REALM}/users`, { ...ada, enabled: true, credentials }, token);
  for (const client of [
    clientOf('ori-cli', AUDIENCE),
    clientOf('ori-cli-other', 'https://other.corp.test/v1'),
    clientOf('ori-cli-brief', AUDIENCE, { 'access.token.lifespan': '3' }),
  ]) {
    await post(`/admin/realms/${REALM}/clients`, client, token);
  }
  const found = await fetch(`${url}/admin/realms/${REALM}/users?username=ada`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const [{ id: subject }] = (await found.json()) as [{ id: string }];
  const owned = stack.move();
  return {
    issuer: `${url}/realms/${REALM}`,
    subject,
    settings: {
      audience: AUDIENCE,
      clients: ['ori-cli', 'ori-cli-other', 'ori-cli-brief'],
      requireAuthTime: true,
    },
    requests: {
      own: { clientId: 'ori-cli', scope: SCOPE },
      foreign: { clientId: 'ori-cli-other', scope: SCOPE },
      brief: { clientId: 'ori-cli-brief', scope: SCOPE },
    },
    visit: (start, browser) => visitForms(start, { username: 'ada', password }, undefined, browser),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A public client with code + PKCE and access tokens of RFC 9068 for one audience. */
function clientOf(clientId: string, audience: string, attributes: Record<string, string> = {}) {
  return {
    clientId,
    publicClient: true,
    standardFlowEnabled: true,
    redirectUris: ['http://127.0.0.1/callback'],
    defaultClientScopes: ['basic', 'profile'],
    optionalClientScopes: ['vault:read', 'interns', 'offline_access'],
    attributes: {
      'pkce.code.challenge.method': 'S256',
      'access.token.header.type.rfc9068': 'true',
      ...attributes,
    },
    protocolMappers: [
      {
        name: 'audience',
        protocol: 'openid-connect',
        protocolMapper: 'oidc-audience-mapper',
        config: { 'included.custom.audience': audience, 'access.token.claim': 'true' },
      },
    ],
  };
}
