import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT } from '../root.ts';
import { admits, admittedFiles } from './build-context.ts';
import { allSteps, execForm, lastOf, STAGES } from './dockerfile.ts';

const SERVICES = ['signer', 'management', 'log', 'guard'];
const steps = [...STAGES.values()].flatMap((stage) => stage.steps);

test('every external image has an exact version, with the Node of the tests', () => {
  const outside = [...STAGES.values()].map(({ from }) => from).filter((from) => !STAGES.has(from));
  expect(new Set(outside)).toEqual(
    new Set([`docker.io/library/node:${process.versions.node}-bookworm-slim`, 'scratch']),
  );
});

test('no instruction downloads files, and npm installs without install scripts', () => {
  expect(steps.filter(({ keyword }) => keyword === 'ADD')).toEqual([]);
  for (const { text } of steps) if (text.startsWith('npm')) expect(text).toContain('npm ci --ignore-scripts');
});

test.each([...SERVICES, 'admin', 'gateway'])(
  'the image %s is empty but for what it copies, and runs as nobody',
  (name) => {
    let from = name;
    while (STAGES.has(from)) from = STAGES.get(from)?.from ?? '';
    expect(from).toBe('scratch');
    expect(allSteps(name).filter(({ keyword }) => keyword === 'RUN')).toEqual([]);
    expect(lastOf(name, 'USER')).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
    // Without a shell.
    expect(execForm(lastOf(name, 'ENTRYPOINT'))[0]).toMatch(/^\/usr\/(local\/bin\/node|sbin\/nginx)$/);
  },
);

test('.dockerignore keeps secrets, builds and tests out', () => {
  const kept = [
    ...['.env', '.git/config', '.ori/standalone.json', 'dist/signer/main.js', 'kek.json'],
    ...['deploy/docker/secrets/kek.json', 'deploy/docker/compose.yaml'],
    ...['deploy/gateway/site/listen.conf', 'deploy/gateway/key.pem'],
    ...['.env', 'dist/index.js', 'node_modules/x/package.json'].map((name) => `libs/internal/store/${name}`),
    ...['services/signer/kek.json', 'services/signer/src/config.test.ts', 'test/env/world.ts'],
  ];
  expect(kept.filter(admits)).toEqual([]);
});

test('.dockerignore includes every runtime source and the manifest of every workspace', () => {
  const files = ['libs', 'services', 'test'].flatMap(admittedFiles);
  const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8'));
  const workspaces = Object.keys(packages).filter((path) =>
    /^(libs\/[^/]+|services|test)\/[^/]+$/.test(path),
  );
  const manifests = workspaces.map((path) => `${path}/package.json`);
  const sources = ['services/signer/src/main.ts', 'services/signer/bin/ori-signer.js'];
  expect(files).toEqual(expect.arrayContaining([...manifests, ...sources]));
  expect(files.filter((file) => !/\.(ts|js|json)$/.test(file))).toEqual([]);
});
