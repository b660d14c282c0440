import { join } from 'node:path';
import { startKeycloak } from '../../../e2e/foreign-keycloak.ts';
import { fromMaven } from '../install.ts';
import type { Launch } from '../launch.ts';

export const keycloak: Launch = {
  name: 'Keycloak',
  asInstalled: '`typ: JWT`, and `aud` is `account`',
  lines: 'client scopes of those names, an audience mapper, the client’s at+jwt switch',
  sub: 'an id of its own',
  install: (folder) => fromMaven(folder, 'org.keycloak', 'keycloak-quarkus-dist'),
  start: (_baseUrl, folder, version) => startKeycloak(join(folder, version)),
};
