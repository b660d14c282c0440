import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundle } from '../../deploy/bundle/bundle.ts';
import { SHIPPED } from '../../deploy/bundle/programs.ts';
import {
  canRunSteps,
  makeBrowser,
  normalise,
  runSteps,
  stepsOf,
  UPDATES,
  update,
  withPorts,
} from './readme-session.ts';
import { makeStandaloneHome } from './standalone-process.ts';
import { freePortWithNeighbours } from './three-ports.ts';

const README = new URL('../../libs/cli/README.md', import.meta.url);
/** It builds a program, installs it, and starts two. */
const LONG = { timeout: 300_000 };
const SECTION = 'From the tarball to a refusal';

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
  const steps = stepsOf(await readFile(README, 'utf8'), SECTION);
  const ours = steps.map((step) => ({ ...step, commands: withPorts(step.commands, 8080, first) }));
  const printed = (await runSteps(ours, { folder, env })).map((text) => normalise(text, first));
  if (UPDATES) return update(README, SECTION, printed);
  expect(printed).toEqual(steps.map(({ shown }) => shown ?? ''));
  await rm(folder, { recursive: true });
});
