import { startBetterAuth } from '../../../e2e/foreign-better-auth.ts';
import { fromNpm } from '../install.ts';
import type { Launch } from '../launch.ts';

export const betterAuth: Launch = {
  name: 'better-auth',
  asInstalled: 'opaque tokens without an audience',
  lines: '`resources` of its OAuth provider: the base address',
  sub: 'an id of its own',
  install: (folder) =>
    fromNpm(folder, 'better-auth', '@better-auth/oauth-provider', '@better-auth/memory-adapter'),
  start: (baseUrl, folder) => startBetterAuth(folder, baseUrl),
};
