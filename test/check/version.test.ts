import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

const tracked = (pattern: string) =>
  execFileSync('git', ['ls-files', pattern], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');

test.each(tracked('*/package.json').filter((path) => /^(?:libs|services)\//.test(path)))(
  '%s has the version of the project and depends on that version of its siblings',
  (path) => {
    const manifest = JSON.parse(read(path)) as { version: string; dependencies?: Record<string, string> };
    expect(manifest.version).toBe(version);
    const siblings = Object.entries(manifest.dependencies ?? {}).filter(([name]) => name.startsWith('@ori/'));
    for (const [name, demanded] of siblings) expect(demanded, name).toBe(version);
  },
);

test.each([
  ...tracked('deploy/docker/compose.yaml'),
  ...tracked('deploy/docker/Dockerfile'),
  ...tracked('deploy/kubernetes/overlays/example/kustomization.yaml'),
])('%s names images of this version', (path) => {
  const named = [
    ...read(path).matchAll(/(?<!\/)\bori\/[a-z]+:(\S+)|newTag: (\S+?)\s|image\.version="([^"]+)"/g),
  ];
  expect(named.length).toBeGreaterThan(0);
  for (const [, tag, newTag, label] of named) expect(tag ?? newTag ?? label).toBe(version);
});

test('.node-version is the Node that npm installs', () => {
  const { optionalDependencies } = JSON.parse(read('package.json'));
  const [installed] = new Set(Object.values(optionalDependencies));
  expect(read('.node-version').trim()).toBe(installed);
});

test('the changelog describes this version', () => {
  expect(read('CHANGELOG.md')).toContain(`\n## ${version}\n`);
});
