import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  canRunSteps,
  expectShown,
  makeBrowser,
  normalise,
  stepsOf,
  UPDATES,
  update,
} from './readme-session.ts';
import { makeStandaloneHome, type RunningStandalone, type StandaloneHome } from './standalone-process.ts';
import { freePortWithNeighbours } from './three-ports.ts';

const ROOT = new URL('../..', import.meta.url);
const README = new URL('README.md', ROOT);
const BY_HAND = new URL('services/standalone/README.md', ROOT);

let home: StandaloneHome;
let running: RunningStandalone;
let first: number;

beforeAll(async () => {
  home = await makeStandaloneHome();
  for (const name of ['package.json', 'node_modules'])
    await symlink(new URL(name, ROOT), join(home.folder, name));
  first = await freePortWithNeighbours();
  running = await home.start({ ORI_PORT: String(first) });
});
afterAll(async () => {
  await running.stop();
  await home[Symbol.asyncDispose]();
});

it('prints at npm start what the README shows, within 80 columns', async () => {
  const markdown = await readFile(README, 'utf8');
  const steps = stepsOf(markdown, 'Two commands').filter(({ shown }) => shown !== undefined);
  const printed = normalise(`${running.lines.join('\n')}\n`, first);
  // The folder of the checkout may be as long as it likes.
  const long = running.lines.filter((line) => line.length > 80 && !line.includes('export PATH='));
  expect(long).toEqual([]);
  if (UPDATES) return update(README, 'Two commands', [printed]);
  expect([printed]).toEqual(steps.map(({ shown }) => shown));
});

it.runIf(canRunSteps)(
  'prints what the READMEs show for each command, word for word',
  { timeout: 120_000 },
  async () => {
    const env = {
      PATH: process.env['PATH'],
      HOME: home.folder,
      BROWSER: await makeBrowser(home.folder),
      ORI_BASE_URL: running.state.baseUrl,
      ORI_SESSION_STORE: 'file',
    };
    await expectShown(README, 'Call the daemon', { folder: home.folder, env, firstPort: first });
    const PATH = `${join(home.folder, 'node_modules/.bin')}:${env.PATH}`;
    const further = { folder: home.folder, env: { ...env, PATH }, firstPort: first };
    await expectShown(BY_HAND, 'The call by hand', further);
  },
);
