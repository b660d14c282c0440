import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkConfig } from '../check-config.ts';
import { readStages } from '../image/dockerfile.ts';
import { ROOT } from '../root.ts';
import { type Manifest, podOf, render } from './render.ts';

const manifests = render(join(ROOT, 'deploy/kubernetes/overlays/signing-log'));
const of = (kind: string, name: string): Manifest =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name);
const log = of('StatefulSet', 'log');
const signer = of('StatefulSet', 'signer');
const [container] = podOf(log).containers;

test('there is one log, confined like the signers, listening on its image’s ports', () => {
  expect(log.spec.replicas).toBe(1);
  expect(podOf(log).securityContext).toEqual(podOf(signer).securityContext);
  expect(container.securityContext).toEqual(podOf(signer).containers[0].securityContext);
  const exposed = readStages()
    .find(({ name }) => name === 'log')
    ?.steps.find(({ keyword }) => keyword === 'EXPOSE')?.text;
  expect(container.ports.map((port: Manifest) => port.containerPort).join(' ')).toBe(exposed);
});

test('it can read, but not write, the claim of every possible signer', () => {
  const count = of('HorizontalPodAutoscaler', 'signer').spec.maxReplicas;
  const claims = Array.from({ length: count }, (_, index) => `audit-signer-${index}`);
  const mounted = podOf(log).volumes.flatMap(({ persistentVolumeClaim: claim }: Manifest) => claim ?? []);
  expect(mounted).toEqual(claims.map((claimName) => ({ claimName, readOnly: true })));
  const { metadata, spec } = signer.spec.volumeClaimTemplates[0];
  expect(metadata.name).toBe('audit');
  expect(spec.accessModes).toEqual(['ReadWriteMany']);
  const audits = container.volumeMounts.filter(({ name }: Manifest) => name.startsWith('audit-'));
  expect(audits.every(({ readOnly }: Manifest) => readOnly === true)).toBe(true);
  const files = container.env.find(({ name }: Manifest) => name === 'LOG_AUDIT_FILES').value.split(',');
  expect(files).toEqual(audits.map(({ mountPath }: Manifest) => `${mountPath}/audit.jsonl`));
});

test('the gateway reaches it through a Service whose name resolves even while the log is down', () => {
  expect(of('ConfigMap', 'gateway-site').data['log.conf']).toBe('server log:8084;\n');
  expect(of('Service', 'log').spec).toMatchObject({ ports: [{ port: 8084, targetPort: 'api' }] });
  expect(of('Service', 'log').spec.clusterIP).toBeUndefined();
});

test('its environment is accepted by its own check-config', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ori-log-pod-'));
  await writeFile(join(folder, 'log-key'), randomBytes(32).toString('base64'), { mode: 0o440 });
  const own = container.env.map(({ name, value }: Manifest) => [
    name,
    value.replace('/run/secrets/ori', folder).replaceAll('/var/lib/ori', folder),
  ]);
  const env = { ...of('ConfigMap', 'log-settings').data, ...Object.fromEntries(own) };
  expect(await checkConfig('log', env)).toEqual({ code: 0, output: 'the LOG_… configuration is valid\n' });
  await rm(folder, { recursive: true });
});
