import { join } from 'node:path';
import { visitForms } from '../../../e2e/foreign-visit.ts';
import { withGo } from '../install.ts';
import { type Launch, started } from '../launch.ts';

export const zitadel: Launch = {
  name: 'zitadel/oidc',
  asInstalled: 'JWE, and no scopes or audience of an API',
  lines: '`IsScopeAllowed`; the audience in `SetIntrospectionFromToken`; `introspection`',
  sub: 'what the storage gives',
  install: (folder) => withGo(folder, 'github.com/zitadel/oidc/v3@latest', 'zitadel.go'),
  start: (baseUrl, folder) =>
    started(
      (port) => ({
        program: join(folder, 'built'),
        arguments: [],
        ready: /listening/,
        environment: { PORT: String(port), AUDIENCE: baseUrl },
      }),
      (issuer) => ({
        issuer,
        subject: 'id2',
        settings: { introspection: { clientId: 'api', clientSecret: 'secret' } },
        visit: (start, browser) =>
          visitForms(start, { username: 'test-user2', password: 'verysecure' }, undefined, browser),
      }),
    ),
};
