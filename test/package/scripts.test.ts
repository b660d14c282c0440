import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRoom } from '../env/room.ts';
import { hasProVerif } from '../lab/model/symbolic/prove.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Who else runs a script of package.json, and the words there that do. */
const RUN_BY: Readonly<Record<string, readonly [file: string, words: string]>> = {
  start: ['test/e2e/standalone-process.ts', "run('start'"],
  token: ['test/e2e/standalone-process.ts', "run('token'"],
  setup: ['.ci/run', 'npm run --silent setup'],
  test: ['.ci/run', 'npm test'],
  'test:deep': ['.ci/run', "vitest run --project '!quick' --project '!isolated'"],
  'test:lab': ['.ci/run', "vitest run --project '!quick' --project '!isolated'"],
  check: ['.ci/run', 'npm run --silent check'],
  build: ['test/e2e/readme-clone.test.ts', "commandsOf('Two commands'"],
  pack: ['test/e2e/readme-clone.test.ts', "commandsOf('Two commands'"],
  bench: ['.ci/run', 'npm run --silent bench'],
  conformance: ['test/conformance/harness.test.ts', "'main.ts'"],
  mutation: ['test/lab/mutation/sample.test.ts', "'main.ts'"],
  faults: ['test/lab/exactly-once/harness.test.ts', "'main.ts'"],
  sbom: ['test/package/sbom.test.ts', "'sbom'"],
  reference: ['test/check/openapi.ts', 'renderGenerated()'],
  'test:watch': ['test/package/scripts.test.ts', "'test:watch'"],
  'test:wings': ['.ci/run', "vitest run --project '!quick' --project '!isolated'"],
  'test:mcp': ['.github/workflows/nightly.yml', 'npm run test:mcp'],
  providers: ['.github/workflows/nightly.yml', 'npm run providers'],
  operators: ['.github/workflows/nightly.yml', 'npm run operators'],
  'setup:runtimes': ['test/conformance/daemon/runtimes.ts', 'setUpRuntimes()'],
};

async function script(name: string, ...args: readonly string[]): Promise<{ status: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      'npm',
      ['run', '--silent', name, '--', ...args],
      { cwd: ROOT },
      (_error, stdout, stderr) => resolve({ status: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const NAMES = Object.keys(scripts).filter((name) => !/^(?:pre|post)/.test(name));

test('each script of package.json is run by some test, or by the CI', () => {
  const here = [...readFileSync(import.meta.filename, 'utf8').matchAll(/await script\('([a-z:]+)'/g)];
  const run = new Set([...Object.keys(RUN_BY), ...here.map(([, name]) => name)]);
  expect(NAMES.filter((name) => !run.has(name))).toEqual([]);
  for (const [file, words] of Object.values(RUN_BY))
    expect(readFileSync(join(ROOT, file), 'utf8'), file).toContain(words);
});

test('CONTRIBUTING has a line for each script', () => {
  const [, table = ''] = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').split('## Set up');
  expect(NAMES.filter((name) => !new RegExp(`\`(?:npm (?:run )?)?${name}\``).test(table))).toEqual([]);
});

test('programs have no CR in a checkout where Git writes CRLF', async () => {
  await using room = await openRoom('ori-crlf');
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  const programs = git('grep', '-lI', '^#!/').trim().split('\n');
  expect(programs).toContain('deploy/one-machine.sh');
  git('-c', 'core.autocrlf=true', 'checkout-index', `--prefix=${room.directory}/`, '--', ...programs);
  const files = programs.map((name) => ({ name, text: readFileSync(join(room.directory, name), 'utf8') }));
  expect(files.filter(({ text }) => text.includes('\r')).map(({ name }) => name)).toEqual([]);
});

/** The Node of the system may be older than the one that npm installs. */
const NODES = ['/usr/bin/node', process.execPath].filter(existsSync);

test.each(NODES)('without packages, each script says in one line what to run first, on %s', async (node) => {
  await using room = await openRoom('ori-script');
  const require = 'node deploy/bundle/require-packages.js';
  const copy = join(room.directory, 'require-packages.js');
  await copyFile(join(ROOT, 'deploy/bundle/require-packages.js'), copy);
  const firsts = new Set(NAMES.map((name) => (scripts[`pre${name}`] ?? scripts[name])?.split(' && ')[0]));
  expect(firsts).toEqual(new Set([require, `${require} demo`]));
  for (const first of firsts) {
    const words = first?.split(' ').slice(2) ?? [];
    const { status, stderr } = spawnSync(node, [copy, ...words], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^This needs packages .* npm ci.*\n$/)]);
  }
});

test('docs: the reference has a page for each public function, and builds without warnings', async () => {
  await using room = await openRoom('ori-script');
  const folder = room.directory;
  expect(await script('docs', folder)).toMatchObject({ status: 0 });
  expect(await readdir(join(folder, 'functions'))).toEqual(
    expect.arrayContaining([
      '_ori_proof.parseProofHeaders.html',
      '_ori_verifier.createVerifier.html',
      '_ori_verifier_express.requireProof.html',
      '_ori_verifier_redis.redisReplayStore.html',
    ]),
  );
}, 180_000);

test('vectors: renders the committed manifest', async () => {
  const manifest = () => readFileSync(join(ROOT, 'test/vectors/manifest.json'), 'utf8');
  const before = manifest();
  expect(await script('vectors')).toMatchObject({ status: 0 });
  expect(manifest()).toBe(before);
});

test('prove: says what it needs where that is missing', async () => {
  if (await hasProVerif()) return;
  expect(await script('prove')).toMatchObject({
    status: 1,
    output: expect.stringContaining('proverif is not'),
  });
});
