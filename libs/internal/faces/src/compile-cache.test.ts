import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const PROGRAM = `
import module from 'node:module';
import { keepCompiled } from ${JSON.stringify(new URL('./compile-cache.ts', import.meta.url).href)};
process.umask(0);
keepCompiled(process.env);
process.stdout.write(module.getCompileCacheDir() ?? '');
`;

function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'ori-compile-cache-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** Where a program that anybody may write beside keeps compiled code, or an empty text. */
function keptIn(HOME: string, environment: Record<string, string> = {}): string {
  const arguments_ = ['--input-type=module', '--eval', PROGRAM];
  const { stdout } = spawnSync(process.execPath, arguments_, { cwd: HOME, env: { HOME, ...environment } });
  return String(stdout);
}

const modeOf = (folder: string) => statSync(folder).mode & 0o777;

it('keeps compiled code, which is run, where nobody else can write, whatever the umask', () => {
  const home = temporaryHome();
  const folder = join(home, '.cache/ori/compile-cache');
  expect(keptIn(home)).toContain(folder);
  expect(modeOf(folder)).toBe(0o700);
  chmodSync(folder, 0o755);
  expect(keptIn(home)).toContain(folder);
  expect(modeOf(folder)).toBe(0o700);
});

it.each([
  ['the group', 0o720],
  ['everybody', 0o702],
])('runs no code of a folder in which %s can write', (_who, mode) => {
  const home = temporaryHome();
  const folder = join(home, '.cache/ori/compile-cache');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, mode);
  expect(keptIn(home)).toBe('');
});

it.skipIf(process.getuid?.() !== 0)('runs no code of a folder of another user', () => {
  const home = temporaryHome();
  const folder = join(home, '.cache/ori/compile-cache');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chownSync(folder, 1234, 1234);
  expect(keptIn(home)).toBe('');
});

it('ignores a relative folder, which would be one of the current folder', () => {
  const home = temporaryHome();
  expect(keptIn(home, { XDG_CACHE_HOME: 'here' })).toContain(join(home, '.cache'));
  expect(keptIn(home, { HOME: 'here' })).toBe('');
});

it('keeps nothing for a user without a home', () => {
  const failing = `import os from 'node:os'; import module from 'node:module';
os.homedir = () => { throw new Error('no such user'); };
module.syncBuiltinESMExports();`;
  const preload = `data:text/javascript,${encodeURIComponent(failing)}`;
  const arguments_ = ['--import', preload, '--input-type=module', '--eval', PROGRAM];
  const { status, stdout } = spawnSync(process.execPath, arguments_, { env: {} });
  expect([status, String(stdout)]).toEqual([0, '']);
});
