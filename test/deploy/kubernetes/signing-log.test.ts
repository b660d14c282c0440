import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openRoom } from '../../env/room.ts';
import { ROOT } from '../root.ts';
import { find, type Manifest, podOf, render } from './render.ts';

const manifests = render('overlays/signing-log');
const log = find(manifests, 'log');
const [container] = podOf(log).containers;

test('one log can read, but not write, the claim of every possible signer', () => {
  expect(log.spec.replicas).toBe(1);
  const count = find(manifests, 'signer', 'HorizontalPodAutoscaler').spec.maxReplicas;
  const claims = Array.from({ length: count }, (_, index) => `audit-signer-${index}`);
  const mounted = podOf(log).volumes.flatMap(({ persistentVolumeClaim: claim }: Manifest) => claim ?? []);
  expect(mounted).toEqual(claims.map((claimName) => ({ claimName, readOnly: true })));
  const { metadata, spec } = find(manifests, 'signer').spec.volumeClaimTemplates[0];
  expect(metadata.name).toBe('audit');
  expect(spec.accessModes).toEqual(['ReadWriteMany']);
  const audits = container.volumeMounts.filter(({ name }: Manifest) => name.startsWith('audit-'));
  expect(audits.every(({ readOnly }: Manifest) => readOnly === true)).toBe(true);
  const files = container.env.find(({ name }: Manifest) => name === 'LOG_AUDIT_FILES').value.split(',');
  expect(files).toEqual(audits.map(({ mountPath }: Manifest) => `${mountPath}/audit.jsonl`));
});

test('the gateway reaches it through a Service whose name resolves even while the log is down', () => {
  expect(find(manifests, 'gateway-site', 'ConfigMap').data['log.conf']).toBe('server log:8084;\n');
  const { spec } = find(manifests, 'log', 'Service');
  expect(spec).toMatchObject({ ports: [{ port: 8084, targetPort: 'api' }] });
  expect(spec.clusterIP).toBeUndefined();
});

test('an audit file rotated as the README says has a name that the log looks for after a restart', async () => {
  await using room = await openRoom('ori-rotation');
  const readme = await readFile(join(ROOT, 'deploy/kubernetes/README.md'), 'utf8');
  const command = /node -e "(.+)"`/.exec(readme)?.[1] ?? '';
  const here = command
    .replaceAll('/var/lib/ori/audit', room.directory)
    .replace("process.kill(1,'SIGHUP')", '');
  await writeFile(join(room.directory, 'audit.jsonl'), '');
  await promisify(execFile)(process.execPath, ['-e', here]);
  expect(await readdir(room.directory)).toEqual([expect.stringMatching(/^audit\.jsonl\.\d+$/)]);
});

test('it is reached while it is not ready: what it has can be verified although an audit file fails', () => {
  expect(container.readinessProbe.httpGet.path).toBe('/readyz');
  expect(find(manifests, 'log', 'Service').spec.publishNotReadyAddresses).toBe(true);
});
