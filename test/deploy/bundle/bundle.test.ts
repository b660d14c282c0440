import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { isBuiltin, SourceMap } from 'node:module';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { bundle } from '../../../deploy/bundle/bundle.ts';
import { renderLicences } from '../../../deploy/bundle/licences.ts';
import { SHIPPED } from '../../../deploy/bundle/programs.ts';
import { shippedFolder } from '../../env/programs.ts';
import { openRoom } from '../../env/room.ts';
import { ROOT } from '../root.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const room = stack.use(await openRoom('ori-bundle'));
const built = await shippedFolder();

describe.each(SHIPPED)('the bundle of $name', ({ name, programs, documents = [] }) => {
  const folder = join(built, name);

  test('contains its programs, their source maps, and their licences', async () => {
    const files = Object.keys(programs).flatMap((program) => [`${program}.js`, `${program}.js.map`]);
    const rest = [
      'LICENSE',
      'THIRD-PARTY-LICENSES',
      'package.json',
      ...documents.map((document) => basename(document)),
    ];
    const found = (await readdir(folder, { recursive: true })).filter((file) => file !== 'tracing');
    expect(found.toSorted()).toEqual([...files, ...rest].toSorted());
  });

  test('imports only built-in modules of Node', async () => {
    for (const program of Object.keys(programs)) {
      const code = await readFile(join(folder, `${program}.js`), 'utf8');
      const imported = [...code.matchAll(/^import (?:.* from )?"(.+)";$/gm)].map(([, id = '']) => id);
      expect(imported.length).toBeGreaterThan(0);
      expect(imported.filter((id) => !isBuiltin(id))).toEqual([]);
    }
  });

  test('lists every bundled package with its licence', async () => {
    const licences = await readFile(join(folder, 'THIRD-PARTY-LICENSES'), 'utf8');
    const notices = licences.split(`\n${'-'.repeat(80)}\n`);
    const named = new Set(notices.map((notice) => /^(\S+) \S+\n\n(?=.{20})/s.exec(notice)?.[1]));
    const inside = new Set<string>();
    for (const program of Object.keys(programs)) {
      const code = await readFile(join(folder, `${program}.js`), 'utf8');
      const { sources } = JSON.parse(await readFile(join(folder, `${program}.js.map`), 'utf8'));
      // A module bundled into an expression has no comment; one with its own source map has other sources.
      const places = `${code}\n// ${sources.join('\n// ')}`;
      for (const [, id = ''] of places.matchAll(/^\/\/ .*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//gm))
        inside.add(id);
    }
    expect(named).toEqual(inside);
  });
});

test('the signer contains no package that only other services use', async () => {
  const licences = await readFile(join(built, 'signer/THIRD-PARTY-LICENSES'), 'utf8');
  expect(licences).toMatch(/^pg /m);
  expect(licences).not.toMatch(
    /^(kysely|commander|oidc-provider|re2js|marked|zod-openapi|@electric-sql\/pglite) /m,
  );
});

test('management contains nothing that only generates its reference', async () => {
  const licences = await readFile(join(built, 'management/THIRD-PARTY-LICENSES'), 'utf8');
  expect(licences).toMatch(/^re2js /m);
  expect(licences).not.toMatch(/^(marked|zod-openapi) /m);
});

test.each(['signer', 'management', 'log'])('the tracing SDK is a separate file in %s', async (name) => {
  const [main, sdk] = await Promise.all(
    ['main', 'tracing/sdk'].map((program) => readFile(join(built, name, `${program}.js`), 'utf8')),
  );
  expect(sdk).toContain('class extends BatchSpanProcessorBase');
  expect(main).not.toContain('BatchSpanProcessor');
});

test('what Express loads and no handler calls is left out, and says so if it is called', async () => {
  const licences = await readFile(join(built, 'signer/THIRD-PARTY-LICENSES'), 'utf8');
  expect(licences).toMatch(/^express /m);
  expect(licences).not.toMatch(/^(body-parser|qs|send|serve-static) /m);
  const main = join(ROOT, 'test/deploy/bundle/uses-body-parser.js');
  await bundle(join(room.directory, 'unused'), [{ name: 'uses', programs: { main } }]);
  const { read } = await import(join(room.directory, 'unused/uses/main.js'));
  expect(read).toThrow('not bundled: body-parser');
});

test('a stack trace names the source if source maps are enabled', async () => {
  const main = join(built, 'signer/main.js');
  const lines = (await readFile(main, 'utf8')).split('\n');
  const map = new SourceMap(JSON.parse(await readFile(`${main}.map`, 'utf8')));
  const line = lines.findIndex((text) => text.includes('async function signProof('));
  expect(map.findEntry(line, 0)).toMatchObject({ originalSource: 'services/signer/src/core/sign-proof.ts' });
  expect(lines.at(-1)).toBe('//# sourceMappingURL=main.js.map');
});

test.each([
  ['needy', 'an external package', "import '@electric-sql/pglite';", 'would need @electric-sql/pglite'],
  ['doubtful', 'what the bundler warns of', "eval('1');", 'eval'],
])('a %s program, with %s, is not built', async (name, _, text, reason) => {
  const main = join(room.directory, `${name}.js`);
  await writeFile(main, text);
  const building = bundle(join(room.directory, name), [{ name, programs: { main } }]);
  await expect(building).rejects.toThrow(reason);
});

describe('the licence of a package', () => {
  const packaged = async (name: string, manifest: object, files: Record<string, string> = {}) => {
    const folder = join(room.directory, name);
    await mkdir(folder);
    const all = { ...files, 'package.json': JSON.stringify({ name, version: '1.0.0', ...manifest }) };
    for (const [file, text] of Object.entries(all)) await writeFile(join(folder, file), text);
    return folder;
  };

  test('includes every licence text in the package', async () => {
    const two = await packaged('two', { license: 'Apache-2.0' }, { 'LICENSE.md': 'as is', NOTICE: 'by ada' });
    expect(renderLicences([two, two])).toBe('two 1.0.0\n\nas is\n\nby ada\n');
    const one = await packaged('one', { license: 'ISC' }, { LICENCE: 'as it is' });
    expect(renderLicences([one])).toBe('one 1.0.0\n\nas it is\n');
  });

  test('is the one from its manifest if it contains no text', async () => {
    const folder = await packaged('short', { license: 'MIT', author: { name: 'ada' } });
    expect(renderLicences([folder])).toContain('License: MIT\nAuthor: ada\n');
  });

  test('must be a known one', async () => {
    const folder = await packaged('silent', {});
    expect(() => renderLicences([folder])).toThrow('silent states no licence');
  });
});

test('the version of the bundles is that of the checkout', async () => {
  const read = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as { version: string };
  expect((await read(join(built, 'signer/package.json'))).version).toBe(
    (await read(`${ROOT}package.json`)).version,
  );
});
