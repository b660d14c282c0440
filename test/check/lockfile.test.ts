import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Locked {
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly integrity?: string;
}

/**
 * The linter's binaries for unsupported systems. npm records digests only for packages that its registry has, and the registry
 * of this lockfile does not have these. Nothing that ships, or runs on Linux with glibc, is among them.
 */
const UNSEEN = /^node_modules\/@biomejs\/cli-(android|darwin|win32|linux-(x64|arm64)-musl)/;

test('every package in the lockfile has a digest', () => {
  const text = readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> };
  const foreign = Object.entries(packages).filter(
    ([path, { link }]) => /(^|\/)node_modules\//.test(path) && !link,
  );
  expect(foreign.length).toBeGreaterThan(100);
  const loose = foreign.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
  const isUnseen = ([path, { dev, optional }]: [string, Locked]) => dev && optional && UNSEEN.test(path);
  expect(loose.filter((entry) => !isUnseen(entry)).map(([path]) => path)).toEqual([]);
});
