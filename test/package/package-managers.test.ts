import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packed } from './empty-project.ts';

const run = promisify(execFile);
const USE = fileURLToPath(new URL('./consumer/use.mjs', import.meta.url));
const WANTED = ['pnpm@12.21.0', 'yarn@1.22.22', '@yarnpkg/cli-dist@4.18.1', 'bun@1.4.5'];
const QUIETLY = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];

let home: string;
let verifier: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ori-managers-'));
  const [tarballs] = await Promise.all([
    packed(join(home, 'tarballs')),
    run('npm', ['install', ...QUIETLY, '--prefix', home, ...WANTED], { cwd: home }),
  ]);
  verifier = tarballs.find((tarball) => tarball.includes('ori-verifier')) ?? '';
});
afterAll(() => rm(home, { recursive: true, force: true }));

const node = process.execPath;
const at = (path: string) => join(home, 'node_modules', path);
const bun = () => at(`@oven/bun-linux-${process.arch === 'arm64' ? 'aarch64' : 'x64'}/bin/bun`);
const yarn4 = () => [node, at('@yarnpkg/cli-dist/bin/yarn.js')];

/** How a project gets the one tarball, and how its program is then run. */
const MANAGERS: readonly [string, () => readonly string[], () => readonly string[]][] = [
  ['npm', () => ['npm', 'install', ...QUIETLY, verifier], () => [node]],
  ['pnpm', () => [at('.bin/pnpm'), 'add', verifier], () => [node]],
  ['yarn 1', () => [node, at('yarn/bin/yarn.js'), 'add', verifier], () => [node]],
  [
    "yarn 4, with Plug'n'Play",
    () => [...yarn4(), 'add', `@ori/verifier@${verifier}`],
    () => [...yarn4(), 'node'],
  ],
  ['bun', () => [bun(), 'add', verifier], () => [bun()]],
];

test.concurrent.each(MANAGERS)(
  '%s installs the verifier from its tarball alone',
  async (name, add, start) => {
    const folder = join(home, name.replaceAll(/\W/g, ''));
    await mkdir(folder);
    await cp(USE, join(folder, 'use.mjs'));
    await writeFile(join(folder, 'package.json'), '{"name":"daemon","private":true,"type":"module"}');
    await writeFile(join(folder, 'yarn.lock'), '');
    const env = { ...process.env, HOME: home, YARN_ENABLE_TELEMETRY: '0' };
    const inFolder = ([program = '', ...words]: readonly string[]) =>
      run(program, words, { cwd: folder, env });
    await inFolder(add());
    expect((await inFolder([...start(), 'use.mjs'])).stdout).toMatch(/^verified and refused on Node \d+\n$/);
  },
);
