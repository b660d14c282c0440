import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exposedPorts } from '../image/dockerfile.ts';
import { ROOT } from '../root.ts';
import { find, type Manifest, podOf, render } from './render.ts';

const manifests = render('base');
const own = manifests.filter(podOf);
const everything = [...render('overlays/signing-log'), ...render('overlays/guarded-daemon')];
const workloads = [...own, find(everything, 'log'), find(everything, 'greeter')];
const scaled = manifests.filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
const graceSeconds = 10;
const names = (list: readonly Manifest[]): string[] => list.map((each) => each.metadata?.name ?? each.name);
/** The image of each workload that is not named as it. */
const IMAGES: Readonly<Record<string, string>> = {
  migrate: 'admin',
  'rotate-keys': 'admin',
  'audit-export': 'admin',
  greeter: 'guard',
};

test('the namespace refuses pods that are not restricted', () => {
  expect(find(manifests, 'ori', 'Namespace').metadata.labels).toMatchObject({
    'pod-security.kubernetes.io/enforce': 'restricted',
  });
});

describe.each(workloads.map((each) => [each.metadata.name as string, each] as const))(
  '%s',
  (name, workload) => {
    const pod = podOf(workload);
    const [container] = pod.containers;

    test('runs an image of this release under its own entry point, and listens on its ports', () => {
      const target = IMAGES[name] ?? name;
      expect(container.image.replace('registry.example.com/', '')).toBe(`ori/${target}:1.0.0`);
      expect(container.command).toBeUndefined();
      const ports = container.ports?.map(({ containerPort }: Manifest) => String(containerPort));
      expect(ports ?? []).toEqual(exposedPorts(target));
    });

    test('has secrets as files that only its group can read, and no secret values in a manifest', () => {
      for (const { secret } of pod.volumes) expect(secret?.defaultMode ?? 0o440).toBe(0o440);
      for (const { name: key, value, valueFrom } of container.env ?? []) {
        expect(valueFrom, key).toBeUndefined();
        if (/DATABASE_URL|REDIS_URL|PASSWORD|SECRET|KEK|TOKEN/.test(key)) expect(key).toMatch(/_FILE$/);
        if (!key.endsWith('_FILE')) continue;
        const mount = container.volumeMounts.find(({ mountPath }: Manifest) =>
          value.startsWith(`${mountPath}/`),
        );
        const volume = pod.volumes.find((each: Manifest) => each.name === mount?.name);
        const isKept = volume?.secret !== undefined || ['audit', 'root'].includes(mount?.name);
        expect(isKept, `${key}=${value}`).toBe(true);
      }
      const volumes = [...pod.volumes, ...(workload.spec.volumeClaimTemplates ?? [])];
      expect(names(volumes)).toEqual(expect.arrayContaining(names(container.volumeMounts)));
    });
  },
);

describe.each(['signer', 'management'])('%s', (name) => {
  const pod = podOf(find(manifests, name));
  const [container] = pod.containers;

  test('has a Service for its API', () => {
    const [port, ...more] = find(manifests, name, 'Service').spec.ports;
    expect(more).toEqual([]);
    expect(port).toMatchObject({ port: container.ports[0].containerPort, targetPort: 'api' });
    expect(names(container.ports)).toEqual(['api', 'ops']);
  });

  test('is live by /livez on the ops port, and ready while it accepts connections', () => {
    const live = { httpGet: { port: 'ops', path: '/livez' } };
    expect(container).toMatchObject({ startupProbe: live, livenessProbe: live });
    expect(container.readinessProbe.tcpSocket).toEqual({ port: 'api' });
  });

  test('has time to stop: the drain, the grace period for requests, and a margin', () => {
    const drain = container.env.find((each: Manifest) => each.name.endsWith('_SHUTDOWN_DRAIN_MS'));
    const needed = Number(drain.value) / 1000 + graceSeconds + 5;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
  });
});

test('pods stop as slowly as the README says', async () => {
  const readme = await readFile(join(ROOT, 'deploy/kubernetes/README.md'), 'utf8');
  const [, served] = /A pod serves for (\d+) s more/.exec(readme) ?? [];
  const [, waited] = /The gateway waits (\d+) s before/.exec(readme) ?? [];
  for (const name of ['signer', 'management']) {
    const { env } = podOf(find(manifests, name)).containers[0];
    const drain = env.find((each: Manifest) => each.name.endsWith('_SHUTDOWN_DRAIN_MS'));
    expect(drain.value).toBe(`${served}000`);
  }
  const [gateway] = podOf(find(manifests, 'gateway')).containers;
  expect(gateway.lifecycle.preStop.sleep.seconds).toBe(Number(waited));
});

test('the audit log of each signer is on its own claim, which outlives the pod', () => {
  const { spec } = find(manifests, 'signer');
  expect(spec.volumeClaimTemplates[0].spec.accessModes).toEqual(['ReadWriteOnce']);
  expect(spec.persistentVolumeClaimRetentionPolicy).toBeUndefined();
  expect(find(manifests, spec.serviceName, 'Service').spec.clusterIP).toBe('None');
});

test.each(scaled.map(({ metadata, spec }) => [metadata.name as string, spec] as const))(
  'the scale of %s is set only by the autoscaler, at least two, spread, and one pod at a time may be evicted',
  (name, { scaleTargetRef: { apiVersion, kind, name: target }, minReplicas, maxReplicas }) => {
    const workload = find(manifests, target, kind);
    expect(workload.apiVersion).toBe(apiVersion);
    expect(workload.spec.replicas).toBeUndefined();
    expect(minReplicas).toBeGreaterThanOrEqual(2);
    expect(maxReplicas).toBeGreaterThan(minReplicas);
    const budget = find(manifests, name, 'PodDisruptionBudget').spec;
    expect(budget.maxUnavailable).toBeLessThan(minReplicas);
    expect(budget.selector).toEqual(workload.spec.selector);
    const constraints: Manifest[] = podOf(workload).topologySpreadConstraints;
    expect(constraints.map(({ topologyKey }) => topologyKey)).toEqual([
      'topology.kubernetes.io/zone',
      'kubernetes.io/hostname',
    ]);
  },
);

test('what holds data is not deleted by a sync', () => {
  const kept = everything.filter(({ kind }) => ['PersistentVolumeClaim', 'Namespace'].includes(kind));
  const names = kept.map(({ metadata }) => metadata.name).filter((name) => name !== 'greeter');
  expect(names.toSorted()).toEqual(['admin-audit', 'log-guard', 'log-tree', 'ori', 'signing-log-audit']);
  for (const { metadata } of kept.filter(({ metadata: { name } }) => name !== 'greeter')) {
    expect(metadata.annotations).toMatchObject({
      'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
      'kustomize.toolkit.fluxcd.io/prune': 'disabled',
    });
  }
});

test('every workload except the jobs is scaled and has a disruption budget', () => {
  const served = own.filter(({ kind }) => !kind.endsWith('Job'));
  expect(names(scaled).toSorted()).toEqual(names(served).toSorted());
});
