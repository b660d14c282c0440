import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startOidcProvider } from '../../../e2e/foreign-providers.ts';
import { fromNpm } from '../install.ts';
import type { Launch } from '../launch.ts';

export const oidcProvider: Launch = {
  name: 'oidc-provider',
  asInstalled: 'opaque tokens without an audience',
  lines: '`features.resourceIndicators` with the API, `accessTokenFormat: jwt`',
  sub: 'what `findAccount` gives',
  install: (folder) => fromNpm(folder, 'oidc-provider'),
  async start(_baseUrl, folder) {
    const entry = join(folder, 'node_modules/oidc-provider/lib/index.js');
    return startOidcProvider((await import(pathToFileURL(entry).href)).default);
  },
};
