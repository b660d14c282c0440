import { execFile } from 'node:child_process';
import { copyFile, cp, lstat, mkdir, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { ROOT } from '../root.ts';
import { admittedFiles, readIgnoreFile } from './build-context.ts';
import { execForm, readStages, type Stage, type Step } from './dockerfile.ts';
import { linkTree } from './link-tree.ts';

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
  const stages = new Map(readStages().map((stage) => [stage.name, stage]));
  const built = new Map<string, Promise<Image>>();
  const build = (name: string): Promise<Image> => {
    const stage = stages.get(name);
    if (stage === undefined) throw new Error(`no stage ${name}`);
    const image = built.get(name) ?? execute(stage, join(folder, name), build, stages);
    built.set(name, image);
    return image;
  };
  return build;
}

async function execute(
  { from, steps }: Stage,
  root: string,
  build: (name: string) => Promise<Image>,
  stages: ReadonlyMap<string, Stage>,
): Promise<Image> {
  await mkdir(root, { recursive: true });
  let image: Image = { root, workdir: '/', env: {}, user: '0', entrypoint: [], health: [] };
  if (stages.has(from)) {
    const base = await build(from);
    // A command may change files, so a stage with a command gets its own copies.
    if (steps.some(({ keyword }) => keyword === 'RUN')) {
      await cp(base.root, root, { recursive: true, verbatimSymlinks: true });
    } else linkTree(base.root, root);
    image = { ...base, root };
  }
  for (const step of steps) image = { ...image, ...(await executeStep(image, step, build)) };
  return image;
}

async function executeStep(
  image: Image,
  { keyword, flags, text }: Step,
  build: (name: string) => Promise<Image>,
): Promise<Partial<Image>> {
  const here = join(image.root, image.workdir);
  switch (keyword) {
    case 'WORKDIR':
      await mkdir(join(image.root, text), { recursive: true });
      return { workdir: text };
    case 'COPY': {
      const source = flags['from'] === undefined ? undefined : (await build(flags['from'])).root;
      await copy(source, text.split(/\s+/), (place) =>
        place.startsWith('/') ? join(image.root, place) : join(here, place),
      );
      return {};
    }
    case 'RUN':
      // A Debian package: replaced by this machine's.
      if (text.startsWith('apt-get ')) return {};
      await run('/bin/sh', ['-c', text], { cwd: here, env: buildEnvironment() });
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

/** `source` is the root of a stage. Default: the checkout, without what `.dockerignore` excludes. */
async function copy(
  source: string | undefined,
  words: readonly string[],
  place: (path: string) => string,
): Promise<void> {
  const target = words.at(-1) ?? '';
  for (const word of words.slice(0, -1)) {
    const intoFolder = target.endsWith('/');
    if (source !== undefined) {
      const from = join(source, word);
      const isFolder = (await lstat(from)).isDirectory();
      linkTree(from, isFolder || !intoFolder ? place(target) : place(join(target, basename(word))));
      continue;
    }
    const path = word.replace(/\/$/, '');
    const files = admittedFiles(ROOT, path, readIgnoreFile(ROOT));
    if (files.length === 0) throw new Error(`COPY ${word}: nothing there, or all of it in .dockerignore`);
    for (const file of files) {
      const rest = file === path ? (intoFolder ? basename(file) : '') : file.slice(path.length + 1);
      const to = place(join(target, rest));
      await mkdir(dirname(to), { recursive: true });
      await copyFile(join(ROOT, file), to);
    }
  }
}

/** The tests' own Node first on the PATH, npm's cache before the network, and another home, zone and language. */
function buildEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME = '/' } = process.env;
  return {
    ...{
      PATH: `${dirname(process.execPath)}:${PATH}`,
      HOME: tmpdir(),
      TZ: 'Pacific/Kiritimati',
      LANG: 'tr_TR',
    },
    ...{ npm_config_prefer_offline: 'true', npm_config_cache: join(HOME, '.npm') },
  };
}

/** Every file of the image, by its path in the container. */
export async function filesOf({ root }: Image): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => `${entry.parentPath.slice(root.length)}/${entry.name}`);
}
