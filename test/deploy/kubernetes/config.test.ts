import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKekRing, type KekOwner } from '@ori/store/sealing';
import { afterAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../env/certificate.ts';
import { checkConfig } from '../check-config.ts';
import { ROOT } from '../root.ts';
import { type Manifest, podOf, render } from './render.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-pod-'));
afterAll(() => rm(folder, { recursive: true }));
const manifests = render(join(ROOT, 'deploy/kubernetes/overlays/operators'));

const CONTENT: Readonly<Record<string, string>> = {
  'database-url': 'postgres://login:password@db.example.com:5432/ori\n',
  'redis-url': 'rediss://ori-signer:password@redis.example.com:6379/0\n',
};

describe.each(['signer', 'management'] as const)('%s', (name) => {
  const pod = podOf(manifests.find((each) => podOf(each) && each.metadata.name === name));
  const [container] = pod.containers;

  test('has an environment that its own check-config accepts, with secrets as the kubelet mounts them', async () => {
    const secrets = await mountSecret(
      name,
      pod.volumes.find((each: Manifest) => each.name === 'secrets').secret.defaultMode,
    );
    const verdict = await checkConfig(name, environmentOf(container, secrets));
    expect(verdict).toEqual({ code: 0, output: `the ${name.toUpperCase()}_… configuration is valid\n` });
  });

  test('uses every secret that the README creates', async () => {
    const readme = await readFile(join(ROOT, 'deploy/kubernetes/README.md'), 'utf8');
    const { secretName } = pod.volumes.find((each: Manifest) => each.name === 'secrets').secret;
    const made =
      new RegExp(`secret generic ${secretName} (?:\\\\\\n\\s+|--\\S+ |--\\S+)+`).exec(readme)?.[0] ?? '';
    const wanted = container.env
      .filter((each: Manifest) => each.value?.startsWith('/run/secrets/ori/'))
      .map((each: Manifest) => each.value.slice('/run/secrets/ori/'.length));
    const files = [...made.matchAll(/--from-file=([\w.-]+)=/g)].map(([, file]) => file);
    expect(files.toSorted()).toEqual(wanted.toSorted());
  });
});

function environmentOf(container: Manifest, secrets: string): Record<string, string> {
  const settings = (container.envFrom ?? []).map(
    ({ configMapRef }: Manifest) =>
      manifests.find((each) => each.kind === 'ConfigMap' && each.metadata.name === configMapRef.name).data,
  );
  const own = Object.fromEntries(
    container.env.map(({ name, value }: Manifest) => [
      name,
      value.replace(/^\/run\/secrets\/(ori|tls)/, secrets),
    ]),
  );
  return Object.assign({}, ...settings, own);
}

/** Symbolic links into a folder named by date, which the kubelet replaces as a whole. */
async function mountSecret(name: KekOwner, mode: number): Promise<string> {
  const mount = join(folder, name);
  await mkdir(join(mount, '..2026_01_01'), { recursive: true });
  await symlink('..2026_01_01', join(mount, '..data'));
  const { cert, key } = makeCertificate();
  const tls = { 'tls.crt': cert, 'tls.key': key, 'ca.crt': cert };
  for (const [file, text] of Object.entries({ ...CONTENT, ...tls, 'kek.json': generateKekRing(name) })) {
    await writeFile(join(mount, '..2026_01_01', file), text);
    await chmod(join(mount, '..2026_01_01', file), mode);
    await symlink(join('..data', file), join(mount, file));
  }
  return mount;
}

test('with TLS between gateway and services, each has its files where it looks for them', () => {
  const named = (name: string) => manifests.find((each) => podOf(each) && each.metadata.name === name);
  const secretAt = (name: string, path: string) => {
    const pod = podOf(named(name));
    const mount = pod.containers[0].volumeMounts.find((each: Manifest) => each.mountPath === path);
    return pod.volumes.find((each: Manifest) => each.name === mount?.name)?.secret;
  };
  for (const name of ['signer', 'management']) {
    const own = podOf(named(name)).containers[0].env.filter((each: Manifest) => each.name.includes('_TLS_'));
    const files = own.map((each: Manifest) => each.value);
    expect(files).toEqual(['tls.crt', 'tls.key', 'ca.crt'].map((file) => `/run/secrets/tls/${file}`));
    expect(secretAt(name, '/run/secrets/tls')).toEqual({ secretName: `${name}-tls`, defaultMode: 0o440 });
  }
  const { data } = manifests.find(({ metadata }) => metadata.name === 'gateway-site');
  expect(data['over-tls.conf']).toBe('signers s;\nmanagement s;\n');
  const places = [...data['services-tls.conf'].matchAll(/\/run\/secrets\/[\w-]+/g)].map(([path]) => path);
  expect([...new Set(places)]).toEqual(['/run/secrets/client-tls']);
  const client = { secretName: 'gateway-client-tls', defaultMode: 0o440 };
  expect(secretAt('gateway', '/run/secrets/client-tls')).toEqual(client);
});

test('the secrets that come from outside are those that the base mounts', () => {
  const base = render(join(ROOT, 'deploy/kubernetes/base'));
  const mounted = base.flatMap((each) => podOf(each)?.volumes ?? []).flatMap(({ secret }) => secret ?? []);
  const outside = manifests
    .filter(({ kind }) => kind === 'ExternalSecret')
    .map(({ metadata }) => metadata.name);
  expect(outside.toSorted()).toEqual([...new Set(mounted.map(({ secretName }) => secretName))].toSorted());
});
