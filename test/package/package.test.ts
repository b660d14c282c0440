import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deadLinksOf } from './dead-links.ts';
import { createProject, findNodes, MODULES, type Project } from './empty-project.ts';

const run = promisify(execFile);
const CONSUMER = fileURLToPath(new URL('./consumer/', import.meta.url));
const nodes = await findNodes();

let empty: Project;
let project: string;
let tarballs: readonly string[];

beforeAll(async () => {
  empty = await createProject();
  ({ folder: project, tarballs } = empty);
  await cp(CONSUMER, project, { recursive: true });
}, 300_000);

afterAll(() => rm(project, { recursive: true, force: true }));

test('the installed packages contain code, declarations and documents, readable by everybody, and nothing else', async () => {
  const expected =
    /^-rw-r--r-- .* package\/(?:(?:[a-z0-9-]+\/)*[a-z0-9-]+\.(?:js|d\.ts)|package\.json|LICENSE|README\.md|(?:SPEC|KEY-SETS|REPLAY-STORES|ROOTED-KEY-SETS|STORE-WIRE)\.md|vectors\/(?:[a-z0-9-]+\.json|README\.md))$/;
  for (const tarball of tarballs) {
    const lines = (await run('tar', ['-tvzf', tarball])).stdout.trim().split('\n');
    expect(lines.filter((line) => !expected.test(line) || line.includes('.test.'))).toEqual([]);
  }
});

test('every link of a packed document leads somewhere', async () => {
  const problems = (await Promise.all(tarballs.map(deadLinksOf))).flat();
  expect(problems).toEqual([]);
});

test('the vectors are packed as their manifest describes them', async () => {
  const tarball = tarballs.find((one) => one.includes('ori-proof')) ?? '';
  const vectors = await mkdtemp(join(project, 'vectors-'));
  await run('tar', ['-xzf', tarball, '--strip-components=2', '-C', vectors, 'package/vectors']);
  const { files } = JSON.parse(await readFile(join(vectors, 'manifest.json'), 'utf8'));
  for (const [name, { sha256 }] of Object.entries<{ sha256: string }>(files)) {
    const bytes = await readFile(join(vectors, name));
    expect([name, createHash('sha256').update(bytes).digest('hex')]).toEqual([name, sha256]);
  }
});

test('the verifier works without any framework, and installs two packages more', async () => {
  const manifest = JSON.parse(
    await readFile(join(project, 'node_modules/@ori/verifier/package.json'), 'utf8'),
  );
  for (const name of Object.keys(manifest.peerDependencies)) {
    expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true });
  }
  const installed = (await readdir(join(project, 'node_modules'), { recursive: true })).filter((path) =>
    /^(?:@[\w-]+\/)?[\w-]+\/package\.json$/.test(path),
  );
  expect(installed.sort()).toEqual([
    '@noble/curves/package.json',
    '@noble/hashes/package.json',
    '@ori/verifier/package.json',
  ]);
});

test('registries and resolvers understand the manifests', async () => {
  for (const tarball of tarballs) {
    const name = /ori-(\w+)-[\d.]+\.tgz$/.exec(tarball)?.[1] ?? '';
    const pkgDir = await mkdtemp(join(project, 'unpacked-'));
    await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', pkgDir]);
    const manifest = JSON.parse(await readFile(join(pkgDir, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      description: expect.any(String),
      keywords: expect.arrayContaining(['ori']),
      repository: { directory: name === 'cli' ? 'services/ori' : `libs/public/${name}` },
      homepage: expect.stringMatching(/^https:/),
      license: 'Apache-2.0',
      sideEffects: false,
      publishConfig: { provenance: true },
    });
    // Anybody may register such a name in a public registry.
    expect(Object.keys(manifest.dependencies).filter((other) => other.startsWith('@ori/'))).toEqual([]);
    const { messages } = await publint({ pkgDir, level: 'suggestion', strict: true });
    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  }
});

test('declarations contain no code, so editors load only types', async () => {
  const root = join(project, 'node_modules/@ori/verifier');
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.d.ts'));
  for (const file of files) {
    const text = await readFile(join(root, file), 'utf8');
    expect(text, file).not.toMatch(/redis\.call|CREATE (?:OR|TABLE|SCHEMA)/);
  }
});

test('every documented entry point resolves, and internal modules do not', async () => {
  const manifest = await readFile(join(project, 'node_modules/@ori/verifier/package.json'), 'utf8');
  const entries = Object.keys(JSON.parse(manifest).exports)
    .filter((entry) => entry !== './package.json')
    .map((entry) => join('@ori/verifier', entry));
  expect(entries.length).toBeGreaterThan(11);
  const script = `for (const entry of ${JSON.stringify(entries)}) await import(entry);
    await import('@ori/verifier/verifier.js').then(() => process.exit(1), (error) => console.log(error.code));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: project });
  expect(stdout.trim()).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
});

test.each([...nodes])('verify a proof and refuse its replay on Node %s', async (major, node) => {
  const { stdout } = await run(node, ['use.mjs'], { cwd: project });
  expect(stdout).toBe(`verified and refused on Node ${major}\n`);
});

test('were tested on another Node', ({ skip }) => {
  skip(nodes.size < 2, 'not found: set CONSUMER_NODE');
});

test('compile in a strict project, with Express, ioredis and pg', async () => {
  // Their declarations come from the workspace: the project did not install them.
  await mkdir(join(project, 'node_modules/@types'), { recursive: true });
  const types = ['node', 'express', 'express-serve-static-core', 'serve-static', 'body-parser', 'connect'];
  types.push('send', 'qs', 'range-parser', 'http-errors', 'pg');
  await empty.link(...types.map((name) => `@types/${name}`), 'ioredis', 'pg', 'pg-types', 'pg-protocol');
  const { stdout } = await run(join(MODULES, '.bin/tsc'), ['-p', '.'], { cwd: project }).catch(
    (error) => error,
  );
  expect(stdout).toBe('');
});

test('compile with no package other than the Node types', async () => {
  const alone = `import { createVerifier } from '@ori/verifier'; import { requireProof } from '@ori/verifier/node';
    import { requireProof as forFetch } from '@ori/verifier/fetch'; import { redisReplayStore } from '@ori/verifier/redis';
    import { postgresReplayStore } from '@ori/verifier/postgres';
    export const all = [createVerifier, requireProof, forFetch, redisReplayStore, postgresReplayStore];`;
  expect(await compile(alone, {})).toBe('');
});

test('compile the examples of MCP servers in a strict project', async () => {
  await mkdir(join(project, 'node_modules/@modelcontextprotocol'), { recursive: true });
  await empty.link(...['node', 'sdk', 'server'].map((name) => `@modelcontextprotocol/${name}`));
  // The declarations of the SDK are not strict themselves; those of /node do not take Node's own request.
  const options = {
    skipLibCheck: true,
    exactOptionalPropertyTypes: false,
    noPropertyAccessFromIndexSignature: true,
    noUncheckedIndexedAccess: true,
  };
  for (const name of ['mcp.ts', 'mcp-sdk1.ts']) {
    const example = new URL(`../../libs/public/verifier/examples/${name}`, import.meta.url);
    expect(await compile(await readFile(example, 'utf8'), options)).toBe('');
  }
});

/** What the compiler says of a file in the project. */
async function compile(code: string, options: object): Promise<string> {
  const folder = await mkdtemp(join(project, 'alone-'));
  await writeFile(join(folder, 'alone.ts'), code);
  const { compilerOptions } = JSON.parse(await readFile(join(project, 'tsconfig.json'), 'utf8'));
  const typeRoots = [join(MODULES, '@types')];
  const tsconfig = { compilerOptions: { ...compilerOptions, ...options, typeRoots }, files: ['alone.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  const { stdout } = await run(join(MODULES, '.bin/tsc'), ['-p', folder], { cwd: project }).catch(
    (error) => error,
  );
  return stdout;
}
