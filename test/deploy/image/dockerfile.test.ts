import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../root.ts';
import { admits, admittedFiles } from './build-context.ts';
import { allSteps, execForm, exposedPorts, lastOf, STAGES } from './dockerfile.ts';

const SERVICES = ['signer', 'management', 'log', 'witness', 'guard'];
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

describe.each([...SERVICES, 'admin', 'gateway'])('the image %s', (name) => {
  test('is based on an empty image and installs nothing in it', () => {
    let from = name;
    while (STAGES.has(from)) from = STAGES.get(from)?.from ?? '';
    expect(from).toBe('scratch');
    expect(allSteps(name).filter(({ keyword }) => keyword === 'RUN')).toEqual([]);
  });

  test('runs as a numeric user that is not root', () => {
    expect(lastOf(name, 'USER')).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
  });

  test('starts without a shell, and with the hardened entry if it is a service', () => {
    const ours = ['/usr/local/bin/node', `/app/${name}/ori-${name}.js`];
    const nginx = '/usr/sbin/nginx -e stderr -p /srv/gateway/ -c /etc/ori/gateway/nginx.conf'.split(' ');
    expect(execForm(lastOf(name, 'ENTRYPOINT'))).toEqual(name === 'gateway' ? nginx : ours);
  });

  test('has no secrets in its environment', () => {
    const words = allSteps(name).filter(({ keyword }) => keyword === 'ENV' || keyword === 'LABEL');
    expect(JSON.stringify(words)).not.toMatch(/secret|password|_URL|_KEK|token/i);
  });
});

test.each(SERVICES)('the health check of %s needs no shell', (name) => {
  const words = ['/usr/local/bin/node', '/app/health.mts', `${name.toUpperCase()}_OPS_PORT`];
  const check = execForm(lastOf(name, 'HEALTHCHECK').replace(/^CMD /, ''));
  expect(check).toEqual([...words, exposedPorts(name)[1]]);
});

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
