import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { bundle } from '../../deploy/bundle/bundle.ts';
import { SHIPPED } from '../../deploy/bundle/programs.ts';
import { canRunSteps, expectShown, makeBrowser } from './readme-session.ts';
import { makeStandaloneHome } from './standalone-process.ts';
import { freePortWithNeighbours } from './three-ports.ts';

const README = new URL('../../services/ori/README.md', import.meta.url);
/** It builds a program, installs it, and starts two. */
const LONG = { timeout: 300_000 };

it.runIf(canRunSteps)('prints what the recording shows, starting from an empty folder', LONG, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ori-recording-'));
  await bundle(
    join(folder, 'dist'),
    SHIPPED.filter(({ name }) => name === 'cli'),
  );
  await using home = await makeStandaloneHome();
  const first = await freePortWithNeighbours();
  await using running = await home.start({ ORI_PORT: String(first) });
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    // The global npm folder of the reader.
    npm_config_prefix: join(folder, 'prefix'),
    npm_config_omit: 'optional',
    npm_config_offline: 'true',
    BROWSER: await makeBrowser(folder),
    ORI_BASE_URL: running.state.baseUrl,
    ORI_SESSION_STORE: 'file',
  };
  await expectShown(README, 'From the tarball to a refusal', { folder, env, firstPort: first });
  await rm(folder, { recursive: true });
});
