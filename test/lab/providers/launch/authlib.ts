import { visitForms } from '../../../e2e/foreign-visit.ts';
import { fromPypi } from '../install.ts';
import { type Launch, startedPython } from '../launch.ts';

export const authlib: Launch = {
  name: 'Authlib',
  asInstalled: 'random tokens, and no introspection',
  lines: 'its `JWTBearerTokenGenerator` with `get_audiences` and `get_auth_time`, for `default`',
  sub: 'what the application gives',
  async install(folder) {
    await fromPypi(folder, 'flask');
    return fromPypi(folder, 'authlib');
  },
  start: (baseUrl, folder) =>
    startedPython(folder, baseUrl, 'authlib_site.py', (url) => ({
      issuer: url,
      subject: 'ada',
      settings: {},
      visit: (start, browser) => visitForms(start, {}, undefined, browser),
    })),
};
