import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { folderOf } from './install.ts';
import { allauth } from './launch/allauth.ts';
import { authlib } from './launch/authlib.ts';
import { betterAuth } from './launch/better-auth.ts';
import { canaille } from './launch/canaille.ts';
import { dex } from './launch/dex.ts';
import { glewlwyd } from './launch/glewlwyd.ts';
import { hydra } from './launch/hydra.ts';
import { keycloak } from './launch/keycloak.ts';
import { lemonldap } from './launch/lemonldap.ts';
import { oidcProvider } from './launch/oidc-provider.ts';
import { openauth } from './launch/openauth.ts';
import { spring } from './launch/spring.ts';
import { toolkit } from './launch/toolkit.ts';
import { zitadel } from './launch/zitadel.ts';
import type { Launch } from './launch.ts';
import { type Observed, observe } from './observe.ts';

/**
 * `npm run providers [NAME…]`: installs the newest version that its registry has of each OpenID provider, signs in with
 * `ori`, calls a daemon, renews, signs in anew, signs out, and prints what worked. Exits with 1 if one that can be used
 * does not let a person call.
 */
const LAUNCHES: readonly Launch[] = [
  ...[oidcProvider, betterAuth, keycloak, spring, allauth, toolkit, authlib, hydra('jwt'), hydra('opaque')],
  ...[zitadel, dex, canaille, glewlwyd, lemonldap, openauth],
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cache: { type: 'string', default: join(tmpdir(), 'ori-providers') } },
});

const OBSERVED_MS_MAX = 240_000;
const LATE = new Error(`it did not end within ${OBSERVED_MS_MAX / 1000} s`);

const yes = (value: boolean | undefined): string => (value === undefined ? '–' : value ? 'yes' : 'no');
const COLUMNS: readonly (readonly [title: string, cell: (seen: Observed) => string])[] = [
  ['signs in', ({ signsIn }) => yes(signsIn)],
  ['bound', ({ bound }) => yes(bound)],
  ['calls', ({ calls }) => yes(calls)],
  ['renews', ({ renews }) => yes(renews)],
  ['refresh token refused', ({ refreshTokenRefused }) => yes(refreshTokenRefused)],
  ['revoked', ({ revoked }) => yes(revoked)],
  ['`auth_time`', ({ authTime }) => authTime ?? '–'],
  ['`max_age`', ({ asksAgain }) => (asksAgain === undefined ? '–' : asksAgain ? 'asks again' : 'ignored')],
];
const row = (cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`);

/** What one provider shows, and its version as far as it could be installed. */
async function look({ name, install, start }: Launch): Promise<{ version: string; seen: Observed }> {
  let version = '?';
  try {
    const folder = await folderOf(values.cache, name.replace(/,.*/, '').replaceAll(/[^\w-]+/g, '-'));
    version = await install(folder);
    const late = pause(OBSERVED_MS_MAX, undefined, { ref: false }).then(() => Promise.reject(LATE));
    const seen = await Promise.race([late, observe((baseUrl) => start(baseUrl, folder, version))]);
    return { version, seen };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return { version, seen: { signsIn: false, why } };
  }
}

const titles = COLUMNS.map(([title]) => title);
row(['Provider', 'Version', ...titles, '`sub`', 'As installed', 'What makes it work', 'What failed']);
row(Array(titles.length + 6).fill('---'));
let failed = 0;
for (const launch of LAUNCHES) {
  if (positionals.length > 0 && !positionals.some((word) => launch.name.startsWith(word))) continue;
  const { version, seen } = await look(launch);
  const { name, sub, asInstalled, lines } = launch;
  if (!seen.calls && lines !== undefined) failed += 1;
  row([
    name,
    version,
    ...COLUMNS.map(([, cell]) => cell(seen)),
    sub,
    asInstalled,
    lines ?? '**cannot be used**',
    seen.why ?? '',
  ]);
}
process.exit(failed === 0 ? 0 : 1);
