import { GLEWLWYD, startGlewlwyd } from '../../../e2e/foreign-glewlwyd.ts';
import { fromDebian } from '../install.ts';
import type { Launch } from '../launch.ts';

export const glewlwyd: Launch = {
  name: 'Glewlwyd',
  asInstalled: 'its OpenID plugin is not set up',
  lines: '`resource-allowed` with the base address for the scopes; `signIn.redirectPort`',
  sub: 'an id of its own',
  install: (folder) => fromDebian(folder, 'glewlwyd'),
  start: (baseUrl) => startGlewlwyd(GLEWLWYD ?? '', baseUrl),
};
