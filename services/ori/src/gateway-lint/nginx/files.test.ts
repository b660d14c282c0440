import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfiguration } from './files.ts';
import { filesMatching } from './glob.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-nginx-files-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let last = 0;
/** Creates a folder with these files; returns the path of the first. */
async function write(files: Record<string, string>): Promise<string> {
  last += 1;
  const place = join(folder, String(last));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(place, name)), { recursive: true });
    await writeFile(join(place, name), text);
  }
  return join(place, Object.keys(files)[0] ?? '');
}

const malformed = { code: 'configuration_malformed' };
const unreadable = { code: 'configuration_unreadable' };

it('expands includes in place, in the order of names', async () => {
  const main = await write({
    'nginx.conf': 'http { a; include conf.d/*.conf; include end; }',
    'conf.d/20.conf': 'c;',
    'conf.d/10.conf': 'b;',
    'conf.d/.hidden.conf': 'hidden;',
    'conf.d/readme': 'readme;',
    end: 'd { include inner/x; }',
    'inner/x': 'e;',
  });
  const { directives, files } = await readConfiguration(main);
  const [http] = directives;
  expect(http?.block?.map(({ name, file }) => [name, relative(dirname(main), file)])).toEqual([
    ['a', 'nginx.conf'],
    ['b', 'conf.d/10.conf'],
    ['c', 'conf.d/20.conf'],
    ['d', 'end'],
  ]);
  expect(http?.block?.at(-1)?.block?.map(({ name }) => name)).toEqual(['e']);
  expect(files).toHaveLength(5);
});

it('resolves a relative name against the folder of the main file, wherever the include is', async () => {
  const main = await write({
    'nginx.conf': 'include sub/a;',
    'sub/a': 'include b;',
    b: 'here;',
    'sub/b': 'there;',
  });
  expect((await readConfiguration(main)).directives.map(({ name }) => name)).toEqual(['here']);
});

it('accepts an absolute name, the same file several times, and a pattern without matches', async () => {
  const shared = await write({ shared: 'a;' });
  const main = await write({ 'nginx.conf': `include ${shared}; include ${shared}; include none/*.conf;` });
  expect((await readConfiguration(main)).directives.map(({ name }) => name)).toEqual(['a', 'a']);
});

it('includes entries of a map', async () => {
  const main = await write({ 'nginx.conf': 'map $a $b { include entries; }', entries: 'x http://y/z;' });
  expect((await readConfiguration(main)).directives[0]?.block?.[0]?.args).toEqual(['http://y/z']);
});

it.each([
  ['itself', { 'nginx.conf': 'a;\ninclude nginx.conf;' }],
  ['itself by another', { 'nginx.conf': 'a;\ninclude b;', b: '\ninclude c;', c: '\ninclude b;' }],
  ['itself by a pattern', { 'nginx.conf': 'a;\ninclude *.conf;' }],
])('refuses a file that includes %s, with the line', async (_how, files) => {
  const facts = { line: 2, why: expect.stringContaining('includes itself') };
  await expect(readConfiguration(await write(files))).rejects.toMatchObject({ ...malformed, facts });
});

it('refuses includes that multiply endlessly', async () => {
  const levels = Array.from({ length: 40 }, (_, i) => [`l${i}`, `include l${i + 1}; include l${i + 1}; a;`]);
  const main = await write({ 'nginx.conf': 'include l0;', ...Object.fromEntries(levels), l40: 'a;' });
  await expect(readConfiguration(main)).rejects.toMatchObject(malformed);
});

it.each([
  ['does not exist', 'include gone;'],
  ['is a folder', 'include sub;'],
])('refuses a file that %s, with the place of the include', async (_what, text) => {
  const main = await write({ 'nginx.conf': `a;\n${text}`, 'sub/x': '' });
  const facts = { from: { file: main, line: 2 } };
  await expect(readConfiguration(main)).rejects.toMatchObject({ ...unreadable, facts });
});

it('refuses a missing main file', async () => {
  await expect(readConfiguration(join(folder, 'gone'))).rejects.toMatchObject(unreadable);
});

it('skips missing files on request, and lists them', async () => {
  const main = await write({ 'nginx.conf': 'a; include gone; include sub; b;' });
  const options = { skipMissing: true };
  const { directives, missing } = await readConfiguration(main, options);
  expect(directives.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(missing.map((file) => relative(dirname(main), file))).toEqual(['gone', 'sub']);
  await expect(readConfiguration(join(folder, 'gone'), options)).rejects.toMatchObject(unreadable);
});

it('reports the line in an included file that does not parse', async () => {
  const main = await write({ 'nginx.conf': 'include b;', b: '\n\n}' });
  const facts = { file: join(dirname(main), 'b'), line: 3 };
  await expect(readConfiguration(main)).rejects.toMatchObject({ ...malformed, facts });
});

it.each([
  ['*.conf', ['a.conf', 'b.conf']],
  ['?.conf', ['a.conf', 'b.conf']],
  ['[a].conf', ['a.conf']],
  ['[!a].conf', ['b.conf']],
  ['[a-b].con?', ['a.conf', 'b.conf']],
  ['[z-a].conf', []],
  ['.*', ['.c.conf']],
  ['*/x.conf', ['d/x.conf']],
  ['*/y.conf', []],
  ['(a).*', []],
  ['[.conf', []],
])('finds the files of glob(3) for %s', async (pattern, names) => {
  const place = dirname(await write({ 'a.conf': '', 'b.conf': '', '.c.conf': '', 'd/x.conf': '' }));
  const found = await filesMatching(join(place, pattern));
  expect(found.map((file) => relative(place, file))).toEqual(names);
});

const DUMP = `# configuration file /etc/nginx/nginx.conf:
events {}
http { include mime.types; include /etc/nginx/conf.d/*.conf; }

# configuration file /etc/nginx/mime.types:
types {}

# configuration file /etc/nginx/conf.d/a.conf:
server { listen 80; }
`;

it('reads the output of nginx -T, and no file of this computer', async () => {
  const { directives, files, missing } = await readConfiguration('stdin', { skipMissing: false, text: DUMP });
  expect(files).toEqual(['/etc/nginx/nginx.conf', '/etc/nginx/mime.types', '/etc/nginx/conf.d/a.conf']);
  expect(missing).toEqual([]);
  const block = directives[1]?.block ?? [];
  expect(block.map(({ name, file, line }) => [name, file, line])).toEqual([
    ['types', '/etc/nginx/mime.types', 2],
    ['server', '/etc/nginx/conf.d/a.conf', 2],
  ]);
});

it('reads a text as one file', async () => {
  const { directives, files } = await readConfiguration('stdin', { skipMissing: false, text: 'events {}' });
  expect([directives.length, files]).toEqual([1, ['stdin']]);
});
