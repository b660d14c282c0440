import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { visitForms } from '../../../e2e/foreign-visit.ts';
import { freePort } from '../../../env/ports.ts';
import { fromDebian } from '../install.ts';
import { type Launch, SETUP, started } from '../launch.ts';

export const lemonldap: Launch = {
  name: 'LemonLDAP::NG',
  asInstalled:
    'JWTs of `typ: JWT` with the client in `aud`; introspection gives neither `aud` nor `token_use`',
  lines: undefined,
  sub: '**the login**',
  install: (folder) => fromDebian(folder, 'lemonldap-ng'),
  async start(baseUrl) {
    const redirectPort = await freePort();
    return started(
      (port, directory) => {
        const key = join(directory, 'key.pem');
        execFileSync('openssl', ['genrsa', '-out', key, '2048'], { stdio: 'ignore' });
        const ports = { PORT: String(port), REDIRECT: String(redirectPort) };
        return {
          program: '/usr/bin/python3',
          arguments: ['-u', join(SETUP, 'lemonldap.py')],
          ready: /Accepting connections/,
          environment: { ...ports, AUDIENCE: baseUrl, KEY: key, FOLDER: directory },
        };
      },
      (url) => ({
        issuer: `${url}/`,
        subject: 'dwho',
        settings: {
          audience: baseUrl,
          tokenTypes: ['JWT'],
          introspection: { clientId: 'api', clientSecret: 'secret', withoutAudience: true },
          signIn: { clientId: 'ori-cli', redirectPort },
        },
        visit: (start, browser) =>
          visitForms(start, { user: 'dwho', password: 'dwho', confirm: '1' }, undefined, browser),
      }),
    );
  },
};
