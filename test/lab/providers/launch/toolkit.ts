import { visitForms } from '../../../e2e/foreign-visit.ts';
import { fromPypi } from '../install.ts';
import { type Launch, PASSWORD, startedPython } from '../launch.ts';

export const toolkit: Launch = {
  name: 'django-oauth-toolkit',
  asInstalled: 'opaque tokens; its introspection has no `sub`, and is not in its discovery document',
  lines: 'an `IntrospectTokenView` that adds `sub`; `introspection.endpoint`',
  sub: 'a small number: only one such issuer',
  install: (folder) => fromPypi(folder, 'django-oauth-toolkit'),
  start: (baseUrl, folder) =>
    startedPython(folder, baseUrl, 'toolkit_site.py', (url) => ({
      issuer: `${url}/o`,
      subject: '1',
      settings: {
        introspection: { endpoint: `${url}/introspect/`, clientId: 'api', clientSecret: 'secret' },
      },
      visit: (start, browser) =>
        visitForms(start, { username: 'ada', password: PASSWORD, allow: 'Authorize' }, undefined, browser),
    })),
};
