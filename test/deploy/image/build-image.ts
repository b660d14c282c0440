import { execFile } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { copyFile, cp, mkdir, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { ROOT } from '../root.ts';
import { admittedFiles } from './build-context.ts';
import { execForm, STAGES, type Step } from './dockerfile.ts';

const run = promisify(execFile);

/** An image built without an engine: its files, and its container settings. */
export interface Image {
  /** The folder that is the container's `/`. */
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly health: readonly string[];
}

/**
 * Executes the Dockerfile step by step, below `folder`. This machine, with the Node that runs the tests, replaces the
 * external image, and a `RUN` is the same command in the stage's working directory, so a `RUN` must not contain an
 * absolute path.
 */
export function imageBuilder(folder: string): (target: string) => Promise<Image> {
  const context = copyContext(join(folder, '.context'));
  const built = new Map<string, Promise<Image>>();
  const build = (name: string): Promise<Image> => {
    const image = built.get(name) ?? execute(name);
    built.set(name, image);
    return image;
  };
  return build;

  async function execute(name: string): Promise<Image> {
    const { from, steps } = STAGES.get(name) ?? { from: '', steps: [] };
    const root = join(folder, name);
    await mkdir(root, { recursive: true });
    let image: Image = { root, workdir: '/', env: {}, user: '0', entrypoint: [], health: [] };
    if (STAGES.has(from)) {
      const base = await build(from);
      // A command may change files, so a stage with a command gets its own copies.
      if (steps.some(({ keyword }) => keyword === 'RUN')) {
        await cp(base.root, root, { recursive: true, verbatimSymlinks: true });
      } else await linkTree(base.root, root);
      image = { ...base, root };
    }
    for (const step of steps) image = { ...image, ...(await executeStep(image, step)) };
    return image;
  }

  async function executeStep(image: Image, { keyword, from, text }: Step): Promise<Partial<Image>> {
    switch (keyword) {
      case 'WORKDIR':
        await mkdir(join(image.root, text), { recursive: true });
        return { workdir: text };
      case 'COPY': {
        const source = from === undefined ? await context : (await build(from)).root;
        const words = text.split(/\s+/);
        const target = words.pop() ?? '';
        const to = join(image.root, resolve(image.workdir, target));
        for (const word of words) {
          const path = join(source, word);
          const isBeside = lstatSync(path).isDirectory() || !target.endsWith('/');
          await linkTree(path, isBeside ? to : join(to, basename(word)));
        }
        return {};
      }
      case 'RUN':
        // A Debian package: replaced by this machine's.
        if (text.startsWith('apt-get ')) return {};
        await run('/bin/sh', ['-c', text], { cwd: join(image.root, image.workdir), env: buildEnvironment() });
        return {};
      case 'ENV':
        return {
          env: { ...image.env, ...Object.fromEntries(text.split(/\s+/).map((pair) => pair.split('=', 2))) },
        };
      case 'USER':
        return { user: text };
      case 'ENTRYPOINT':
        return { entrypoint: execForm(text) };
      case 'HEALTHCHECK':
        return { health: execForm(text.replace(/^CMD /, '')) };
      case 'LABEL':
      case 'EXPOSE':
      case 'STOPSIGNAL':
        return {};
      default:
        throw new Error(`the test does not know ${keyword}`);
    }
  }
}

/** Copies with hard links, in a tenth of the time of a copy. Only for files that do not change afterwards. */
async function linkTree(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await run('cp', ['-alT', '--remove-destination', from, to]);
}

/** What `.dockerignore` includes of the checkout. */
async function copyContext(folder: string): Promise<string> {
  for (const file of admittedFiles('')) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await copyFile(join(ROOT, file), join(folder, file));
  }
  return folder;
}

/** The tests' own Node first on the PATH, npm's cache before the network, and another home, zone and language. */
function buildEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME = '/', npm_config_cache = join(HOME, '.npm') } = process.env;
  return {
    PATH: `${dirname(process.execPath)}:${PATH}`,
    HOME: tmpdir(),
    TZ: 'Pacific/Kiritimati',
    LANG: 'tr_TR',
    npm_config_prefer_offline: 'true',
    npm_config_cache,
  };
}

/** Every file of the image, by its path in the container. */
export async function filesOf({ root }: Image): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => `${entry.parentPath.slice(root.length)}/${entry.name}`);
}
