import { type Browser, visitForms } from '../../../e2e/foreign-visit.ts';
import { freePort } from '../../../env/ports.ts';
import { fromPypi } from '../install.ts';
import { type Launch, PASSWORD, startedPython } from '../launch.ts';

export const canaille: Launch = {
  name: 'Canaille',
  asInstalled:
    'JWTs without scope and client; only a client with a secret introspects, and as a second audience it is in the ID token, too, without `azp`',
  lines: undefined,
  sub: '**the login**',
  install: (folder) => fromPypi(folder, 'canaille', '[oidc,front,server]'),
  async start(baseUrl, folder) {
    const redirectPort = await freePort();
    const describe = (url: string) => ({
      issuer: url,
      subject: 'ada',
      settings: {
        audience: 'ori-cli',
        introspection: { clientId: 'ori-cli', authMethod: 'none' },
        signIn: { redirectPort },
      },
      visit: (start: URL, browser?: Browser) =>
        visitForms(start, { login: 'ada', password: PASSWORD }, undefined, browser),
    });
    const environment = { REDIRECT: String(redirectPort) };
    return startedPython(folder, baseUrl, 'canaille_site.py', describe, environment);
  },
};
