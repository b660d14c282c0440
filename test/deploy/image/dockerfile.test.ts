import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../root.ts';
import { admittedFiles, readIgnoreFile } from './build-context.ts';
import { execForm, readStages, type Stage, type Step } from './dockerfile.ts';

const stages = readStages();
const names = new Set(stages.map(({ name }) => name));
const SHIPPED = ['signer', 'management', 'log', 'witness', 'guard', 'admin', 'gateway'];
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  signer: ['/usr/local/bin/node', '/app/signer/ori-signer.js'],
  management: ['/usr/local/bin/node', '/app/management/ori-management.js'],
  log: ['/usr/local/bin/node', '/app/log/ori-log.js'],
  witness: ['/usr/local/bin/node', '/app/witness/ori-witness.js'],
  guard: ['/usr/local/bin/node', '/app/guard/ori-guard.js'],
  admin: ['/usr/local/bin/node', '/app/admin/ori-admin.js'],
  gateway: ['/usr/sbin/nginx', '-e', 'stderr', '-p', '/srv/gateway/', '-c', '/etc/ori/gateway/nginx.conf'],
};

/** The steps of a stage and of its base stages. */
function allSteps(name: string): Step[] {
  const stage = stages.find((each) => each.name === name) as Stage;
  return [...(names.has(stage.from) ? allSteps(stage.from) : []), ...stage.steps];
}

const lastOf = (name: string, keyword: string) =>
  allSteps(name).findLast((step) => step.keyword === keyword)?.text ?? '';

test('every external image has an exact version, with the Node of the tests', () => {
  const outside = [...new Set(stages.map(({ from }) => from))].filter((from) => !names.has(from));
  expect(outside.toSorted()).toEqual([
    `docker.io/library/node:${process.versions.node}-bookworm-slim`,
    'scratch',
  ]);
});

test('no instruction downloads files, and npm installs without install scripts', () => {
  expect(stages.flatMap(({ steps }) => steps).filter(({ keyword }) => keyword === 'ADD')).toEqual([]);
  const installs = stages.flatMap(({ steps }) => steps).filter(({ text }) => /\bnpm\b/.test(text));
  for (const { text } of installs)
    if (text.startsWith('npm')) expect(text).toContain('npm ci --ignore-scripts');
});

describe.each(SHIPPED)('the image %s', (name) => {
  test('is based on an empty image and installs nothing in it', () => {
    const bottom = (from: string): string => {
      const stage = stages.find((each) => each.name === from);
      return stage ? bottom(stage.from) : from;
    };
    expect(bottom(name)).toBe('scratch');
    expect(allSteps(name).filter(({ keyword }) => keyword === 'RUN')).toEqual([]);
  });

  test('runs as a numeric user that is not root', () => {
    expect(lastOf(name, 'USER')).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
  });

  test('starts without a shell, and with the hardened entry if it is a service', () => {
    expect(execForm(lastOf(name, 'ENTRYPOINT'))).toEqual(ENTRIES[name]);
  });

  test('has no secrets in its environment', () => {
    const words = allSteps(name)
      .filter(({ keyword }) => keyword === 'ENV' || keyword === 'LABEL')
      .map(({ text }) => text)
      .join(' ');
    expect(words).not.toMatch(/secret|password|_URL|_KEK|token/i);
  });
});

test.each([
  ['signer', '9081'],
  ['management', '9082'],
  ['log', '9084'],
  ['witness', '9085'],
  ['guard', '9086'],
])('the health check of %s needs no shell', (name, port) => {
  const text = lastOf(name, 'HEALTHCHECK');
  expect(execForm(text.replace(/^CMD /, ''))).toEqual([
    '/usr/local/bin/node',
    '/app/health.mts',
    `${name.toUpperCase()}_OPS_PORT`,
    port,
  ]);
});

describe('.dockerignore', () => {
  const admits = readIgnoreFile(ROOT);

  test.each([
    '.env',
    '.git/config',
    '.ori/standalone.json',
    'dist/signer/main.js',
    'kek.json',
    'deploy/docker/secrets/kek.json',
    'deploy/docker/compose.yaml',
    'deploy/gateway/site/listen.conf',
    'deploy/gateway/key.pem',
    'libs/internal/store/.env',
    'libs/internal/store/dist/index.js',
    'libs/internal/store/node_modules/x/package.json',
    'services/signer/kek.json',
    'services/signer/src/config.test.ts',
    'test/env/world.ts',
  ])('keeps %s out', (path) => expect(admits(path)).toBe(false));

  test('includes every runtime source and the manifest of every workspace', () => {
    const files = ['libs', 'services', 'test'].flatMap((folder) => admittedFiles(ROOT, folder, admits));
    const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8'));
    const workspaces = Object.keys(packages).filter((path) =>
      /^(libs\/[^/]+|services|test)\/[^/]+$/.test(path),
    );
    expect(files).toEqual(expect.arrayContaining(workspaces.map((path) => `${path}/package.json`)));
    expect(files).toEqual(
      expect.arrayContaining(['services/signer/src/main.ts', 'services/signer/bin/ori-signer.js']),
    );
    expect(files.filter((file) => !/\.(ts|js|json)$/.test(file))).toEqual([]);
  });
});
