import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packLibraries } from '../../deploy/package/pack.ts';

const run = promisify(execFile);
const MANIFEST = fileURLToPath(new URL('./package.json', import.meta.url));

/** Where the runtimes are installed: about 1.1 GB, which `npm ci` does not install. */
export const RUNTIMES = fileURLToPath(new URL('../../node_modules/.cache/runtimes/', import.meta.url));

/**
 * Without install scripts: the programs are in separate packages and are run directly. A download that hangs is repeated
 * after two minutes instead of five.
 */
const INSTALL = [
  'install',
  ...['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock', '--fetch-timeout=120000'],
];

/** Installs the runtimes, once, and the verifier as it is now, from its tarballs. */
export async function setUpRuntimes(): Promise<void> {
  await mkdir(RUNTIMES, { recursive: true });
  // What the daemons import.
  await copyFile(fileURLToPath(new URL('./answered.mjs', import.meta.url)), join(RUNTIMES, 'answered.mjs'));
  const wanted = await readFile(MANIFEST, 'utf8');
  const stamp = join(RUNTIMES, 'installed.json');
  if ((await readFile(stamp, 'utf8').catch(() => '')) !== wanted) {
    await copyFile(MANIFEST, join(RUNTIMES, 'package.json'));
    await run('npm', INSTALL, { cwd: RUNTIMES, maxBuffer: 2 ** 24 });
    await writeFile(stamp, wanted);
  }
  const tarballs = await packLibraries(join(RUNTIMES, 'tarballs'));
  await rm(join(RUNTIMES, 'node_modules/@ori'), { recursive: true, force: true });
  await rm(join(RUNTIMES, 'node_modules/@noble'), { recursive: true, force: true });
  await run('npm', [...INSTALL, '--no-save', ...tarballs], { cwd: RUNTIMES, maxBuffer: 2 ** 24 });
}

const { platform, arch } = process;
const inRuntimes = (path: string): string => join(RUNTIMES, 'node_modules', path);

export const NEXT: string = inRuntimes('next/dist/bin/next');

/** The bundle of the Worker that launch.ts starts, with {@link JWKS_URL} for the address of its keys; and what it writes. */
export const WORKERS: string = join(RUNTIMES, 'workers');
export const JWKS_URL = 'https://keys.invalid/jwks.json';

/** Builds the Next route against the installed verifier. */
export async function buildNext(settings: Readonly<Record<string, string>>): Promise<void> {
  const app = join(RUNTIMES, 'next');
  await rm(app, { recursive: true, force: true });
  await cp(fileURLToPath(new URL('./next/', import.meta.url)), app, { recursive: true });
  await run(process.execPath, [NEXT, 'build', app], { env: { ...process.env, ...settings } });
}

/** The programs, by the name under which a table shows them. */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'Node 20.19': [inRuntimes(`node20-${platform}-${arch}/bin/node`)],
  'Node 22': [inRuntimes(`node22-${platform}-${arch}/bin/node`)],
  'Node 24': [process.execPath],
  Bun: [inRuntimes(`@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : 'x64'}/bin/bun`)],
  Deno: [
    inRuntimes(`@deno/${platform}-${arch}-glibc/deno`),
    'run',
    '--no-lock',
    '--node-modules-dir=manual',
    '--allow-net=127.0.0.1',
    '--allow-env',
    '--allow-read',
    '--allow-sys',
  ],
};

if (import.meta.main) await setUpRuntimes();
