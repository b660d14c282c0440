import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { find, type Manifest, podOf, render } from '../../deploy/kubernetes/render.ts';
import { ROOT } from '../../deploy/root.ts';
import { openRoom } from '../../env/room.ts';

const manifests = render('overlays/signing-log');
const log = find(manifests, 'log');
const [container] = podOf(log).containers;

test('one log can read, but not write, the audit file of every possible signer', () => {
  expect(log.spec.replicas).toBe(1);
  const files = container.env.find(({ name }: Manifest) => name === 'LOG_AUDIT_FILES').value.split(',');
  const count = find(manifests, 'signer', 'HorizontalPodAutoscaler').spec.maxReplicas;
  expect(files).toEqual(
    Array.from({ length: count }, (_, index) => `/var/lib/ori/audit/signer-${index}/audit.jsonl`),
  );
  const claim = { claimName: 'signing-log-audit' };
  const volumeOf = (pod: Manifest, mountPath: string) => {
    const mount = pod.containers[0].volumeMounts.find((each: Manifest) => each.mountPath === mountPath);
    return [mount, pod.volumes?.find((each: Manifest) => each.name === mount.name)?.persistentVolumeClaim];
  };
  expect(volumeOf(podOf(log), '/var/lib/ori/audit')).toMatchObject([{ readOnly: true }, claim]);
  // Of each signer, only the folder of its name.
  const signers = volumeOf(podOf(find(manifests, 'signer')), '/var/lib/ori/audit');
  expect(signers).toMatchObject([{ subPathExpr: '$(POD_NAME)' }, claim]);
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
