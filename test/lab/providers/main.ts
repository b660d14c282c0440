import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { folderOf } from './install.ts';
import { LAUNCHES } from './launches.ts';
import { type Observed, observe } from './observe.ts';

/**
 * `npm run providers`: installs the newest version that its registry has of each OpenID provider, signs in with `ori`, calls
 * a daemon, renews, signs out, and prints what worked. Exits with 1 if something that worked at the last release does not.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cache: { type: 'string', default: join(tmpdir(), 'ori-providers') } },
});

const COLUMNS = ['signsIn', 'bound', 'calls', 'renews', 'refreshTokenRefused', 'revoked'] as const;
const TITLES = ['signs in', 'bound', 'calls', 'renews', 'refresh token refused', 'revoked'];
const tell = (value: boolean | undefined): string => (value === undefined ? '–' : value ? 'yes' : 'no');
const row = (cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`);

/** What one provider shows, and its version as far as it could be installed. */
async function look({ name, install, start }: (typeof LAUNCHES)[number]) {
  let version = '?';
  try {
    const folder = await folderOf(values.cache, name.replace(/,.*/, '').replaceAll(/[^\w-]+/g, '-'));
    version = await install(folder);
    const observed: Observed = await observe((baseUrl) => start(baseUrl, folder, version));
    return { version, observed };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return { version, observed: { signsIn: false, why } satisfies Observed };
  }
}

row(['Provider', 'Version', ...TITLES, 'Why not']);
row(Array(TITLES.length + 3).fill('---'));
let failed = 0;
for (const launch of LAUNCHES) {
  if (positionals.length > 0 && !positionals.some((word) => launch.name.startsWith(word))) continue;
  const { version, observed } = await look(launch);
  if (!observed.calls) failed += 1;
  row([launch.name, version, ...COLUMNS.map((column) => tell(observed[column])), observed.why ?? '']);
}
process.exit(failed === 0 ? 0 : 1);
