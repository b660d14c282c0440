import { join } from 'node:path';
import { visitForms } from '../../../e2e/foreign-visit.ts';
import { withGo } from '../install.ts';
import { type Launch, PASSWORD, started } from '../launch.ts';

/** `latest` of its module is a version of 2018, because it has no path of version 2. */
const VERSION = 'v0.0.0-20260806151424-ab64ed778070';
const AUDIENCE = 'ori-api';

export const dex: Launch = {
  name: 'Dex',
  asInstalled: '`invalid_scope` for the scopes of an API; its access token is an ID token, with `nonce`',
  lines: undefined,
  sub: 'the connector and its user id',
  install: (folder) => withGo(folder, `github.com/dexidp/dex@${VERSION}`, 'dex.go'),
  start: (baseUrl, folder) =>
    started(
      (port) => ({
        program: join(folder, 'built'),
        arguments: [],
        ready: /listening/,
        environment: { PORT: String(port), AUDIENCE: baseUrl, PASSWORD },
      }),
      (url) => ({
        issuer: `${url}/dex`,
        subject: '?',
        settings: {
          audience: AUDIENCE,
          introspection: { clientId: AUDIENCE, clientSecret: 'secret' },
          signIn: { resource: false, scopes: [`audience:server:client_id:${AUDIENCE}`] },
        },
        visit: (start, browser) =>
          visitForms(start, { login: 'ada@corp.test', password: PASSWORD }, undefined, browser),
      }),
    ),
};
