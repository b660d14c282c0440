import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { visitForms } from '../../../e2e/foreign-visit.ts';
import { fromNpm } from '../install.ts';
import { type Launch, SETUP, started } from '../launch.ts';

export const openauth: Launch = {
  name: 'OpenAuth',
  asInstalled: 'no OpenID discovery, no ID token, no scopes',
  lines: undefined,
  sub: 'a hash of what the application gives',
  async install(folder) {
    await copyFile(join(SETUP, 'openauth.mjs'), join(folder, 'openauth.mjs'));
    return fromNpm(folder, '@openauthjs/openauth', '@hono/node-server', 'hono', 'valibot');
  },
  start: (_baseUrl, folder) =>
    started(
      (port) => ({
        program: process.execPath,
        arguments: [join(folder, 'openauth.mjs'), String(port)],
        ready: /listening/,
      }),
      (issuer) => ({
        issuer,
        subject: 'user',
        settings: {},
        visit: (start, browser) => visitForms(start, {}, undefined, browser),
      }),
    ),
};
