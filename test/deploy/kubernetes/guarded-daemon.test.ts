import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkConfig } from '../check-config.ts';
import { readStages } from '../image/dockerfile.ts';
import { ROOT } from '../root.ts';
import { type Manifest, podOf, render } from './render.ts';

const manifests = render(join(ROOT, 'deploy/kubernetes/overlays/guarded-daemon'));
const of = (kind: string): Manifest => manifests.find((each) => each.kind === kind);
const [guard, daemon] = podOf(of('Deployment')).containers;
const env = Object.fromEntries(guard.env.map(({ name, value }: Manifest) => [name, value]));
const signer = render(join(ROOT, 'deploy/kubernetes/base')).find(
  ({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'signer',
);

test('the guard is confined like the signers, and listens on its image’s ports', () => {
  expect(podOf(of('Deployment')).securityContext).toEqual(podOf(signer).securityContext);
  expect(guard.securityContext).toEqual(podOf(signer).containers[0].securityContext);
  const exposed = readStages()
    .find(({ name }) => name === 'guard')
    ?.steps.find(({ keyword }) => keyword === 'EXPOSE')?.text;
  expect(guard.ports.map((port: Manifest) => port.containerPort).join(' ')).toBe(exposed);
});

test('only the ports of the guard can be reached, and it reaches the daemon on loopback', () => {
  expect(daemon.ports).toBeUndefined();
  const admitted = of('NetworkPolicy').spec.ingress.flatMap(({ ports }: Manifest) => ports);
  expect(admitted.map(({ port }: Manifest) => port)).toEqual([8086, 9086]);
  expect(of('Service').spec.ports).toEqual([{ name: 'api', port: 8086, targetPort: 'api' }]);
  expect(new URL(env['GUARD_DAEMON_URL']).hostname).toBe('127.0.0.1');
});

test('two guards never run at once with a replay store in memory', () => {
  expect(env['GUARD_REPLAY']).toBeUndefined();
  expect(of('Deployment').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
});

test('the environment of the guard is accepted by its own check-config', async () => {
  const [name, content] = Object.entries(of('ConfigMap').data as Record<string, string>)[0] ?? [];
  expect(env['GUARD_ROOT_FILE']).toBe(`/etc/ori/${name}`);
  const file = join(await mkdtemp(join(tmpdir(), 'ori-root-')), 'root.json');
  onTestFinished(() => rm(dirname(file), { recursive: true }));
  await writeFile(file, content ?? '');
  expect(await checkConfig('guard', { ...env, GUARD_ROOT_FILE: file })).toEqual({
    code: 0,
    output: 'the GUARD_… configuration is valid\n',
  });
});
