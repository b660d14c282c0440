import { visitForms } from '../../../e2e/foreign-visit.ts';
import { fromPypi } from '../install.ts';
import { type Launch, PASSWORD, startedPython } from '../launch.ts';

export const allauth: Launch = {
  name: 'django-allauth',
  asInstalled: 'opaque tokens',
  lines: '`IDP_OIDC_ACCESS_TOKEN_FORMAT = "jwt"`; `tokenTypes`: `JWT`',
  sub: 'a small number: only one such issuer',
  async install(folder) {
    // 65.22.1 imports it, and its extra does not name it.
    await fromPypi(folder, 'requests');
    return fromPypi(folder, 'django-allauth', '[idp-oidc]');
  },
  start: (baseUrl, folder) =>
    startedPython(folder, baseUrl, 'allauth_site.py', (url) => ({
      issuer: url,
      subject: '1',
      settings: { tokenTypes: ['JWT'] },
      visit: (start, browser) => visitForms(start, { login: 'ada', password: PASSWORD }, undefined, browser),
    })),
};
