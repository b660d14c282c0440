import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRoom } from '../../env/room.ts';
import { expectAccepted, writeSecrets } from '../check-config.ts';
import { ROOT } from '../root.ts';
import { find, type Manifest, podOf, render } from './render.ts';

const manifests = render('overlays/operators');
const filesOf = (container: Manifest, folder: string): string[] =>
  container.env.flatMap(({ value }: Manifest) => value?.split(`${folder}/`).slice(1) ?? []);

test.each([
  ['signer', 'overlays/operators', 'signer'],
  ['management', 'overlays/operators', 'management'],
  ['log', 'overlays/signing-log', 'log'],
  ['guard', 'overlays/guarded-daemon', 'greeter'],
])('%s accepts its environment, with secrets as the kubelet mounts them', async (service, folder, name) => {
  await using room = await openRoom('ori-pod');
  const place = room.directory;
  // The kubelet replaces this folder, named by date, as a whole.
  const secrets = await writeSecrets(join(place, '..2026_01_01'), service, 0o440);
  await symlink('..2026_01_01', join(place, '..data'));
  for (const file of secrets) await symlink(join('..data', file), join(place, file));

  const spool = join(place, 'spool');
  await mkdir(spool);

  const rendered = render(folder);
  const pod = podOf(find(rendered, name));
  const [container] = pod.containers;
  const mapOf = ({ name }: Manifest) => find(rendered, name, 'ConfigMap').data as Record<string, string>;
  for (const { configMap } of pod.volumes.filter((each: Manifest) => each.configMap))
    for (const [file, text] of Object.entries(mapOf(configMap))) await writeFile(join(place, file), text);
  const own = container.env.map(({ name, value }: Manifest) => [
    name,
    value
      .replaceAll(/\/(?:run\/secrets\/(?:ori|tls)|var\/lib\/ori|etc\/ori)/g, place)
      .replace('/var/spool/ori', spool),
  ]);
  const settings = (container.envFrom ?? []).map(({ configMapRef }: Manifest) => mapOf(configMapRef));
  await expectAccepted(service, Object.assign({}, ...settings, Object.fromEntries(own)));
});

test.each(['signer', 'management'])('%s uses every secret that the README creates', async (name) => {
  const readme = await readFile(join(ROOT, 'deploy/kubernetes/README.md'), 'utf8');
  const made = new RegExp(`secret generic ${name} (?:\\\\\\n\\s+|--\\S+ |--\\S+)+`).exec(readme)?.[0] ?? '';
  const files = [...made.matchAll(/--from-file=([\w.-]+)=/g)].map(([, file]) => file);
  const [container] = podOf(find(manifests, name)).containers;
  expect(files.toSorted()).toEqual(filesOf(container, '/run/secrets/ori').toSorted());
});

test('with TLS between gateway and services, each has its files where it looks for them', () => {
  const secretAt = (name: string, path: string) => {
    const pod = podOf(find(manifests, name));
    const mount = pod.containers[0].volumeMounts.find((each: Manifest) => each.mountPath === path);
    return pod.volumes.find((each: Manifest) => each.name === mount?.name)?.secret;
  };
  for (const name of ['signer', 'management']) {
    const [container] = podOf(find(manifests, name)).containers;
    expect(filesOf(container, '/run/secrets/tls')).toEqual(['tls.crt', 'tls.key', 'ca.crt']);
    expect(secretAt(name, '/run/secrets/tls')).toEqual({ secretName: `${name}-tls`, defaultMode: 0o440 });
  }
  const { data } = find(manifests, 'gateway-site', 'ConfigMap');
  expect(data['over-tls.conf']).toBe('signers s;\nmanagement s;\n');
  const places = [...data['services-tls.conf'].matchAll(/\/run\/secrets\/[\w-]+/g)].map(([path]) => path);
  expect(new Set(places)).toEqual(new Set(['/run/secrets/client-tls']));
  const client = { secretName: 'gateway-client-tls', defaultMode: 0o440 };
  expect(secretAt('gateway', '/run/secrets/client-tls')).toEqual(client);
});

test('the secrets that come from outside are those that the base mounts', () => {
  const volumes = render('base').flatMap((each) => podOf(each)?.volumes ?? []);
  const mounted = new Set(volumes.flatMap(({ secret }) => secret?.secretName ?? []));
  const outside = manifests.filter(({ kind }) => kind === 'ExternalSecret');
  expect(new Set(outside.map(({ metadata }) => metadata.name))).toEqual(mounted);
});
