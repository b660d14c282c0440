import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRoom } from '../../env/room.ts';
import { exposedPorts } from '../image/dockerfile.ts';
import { ROOT } from '../root.ts';
import { find, type Manifest, podOf, render, renderWith } from './render.ts';

const manifests = render('base');
const own = manifests.filter(podOf);
const everything = [...render('overlays/signing-log'), ...render('overlays/guarded-daemon')];
const workloads = [...own, find(everything, 'log'), find(everything, 'greeter')];
const greeter = podOf(find(everything, 'greeter'));
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
    const [container, ...others] = pod.containers;

    test('is restricted: not root, no token, no capabilities, read-only', () => {
      expect(names(others)).toEqual(name === 'greeter' ? ['daemon'] : []);
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65_532,
          runAsGroup: 65_532,
          fsGroup: 65_532,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      });
      for (const { securityContext } of pod.containers)
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    });

    test('is named, and has an account of its own, or of its jobs, without a token', () => {
      const account = workload.kind.endsWith('Job') ? 'admin' : name;
      expect(workload.metadata.labels['app.kubernetes.io/name']).toBe(name);
      expect(pod.serviceAccountName).toBe(account);
      const manifest = find(everything, account, 'ServiceAccount');
      expect(manifest.automountServiceAccountToken).toBe(false);
    });

    test('gets no variables like SIGNER_PORT from a Service of that name', () => {
      expect(pod.enableServiceLinks).toBe(false);
    });

    test('requests its resources and limits its memory and disk', () => {
      const all = { cpu: expect.any(String), memory: expect.any(String), 'ephemeral-storage': '128Mi' };
      for (const { resources } of pod.containers) {
        expect(resources.requests).toEqual(all);
        expect(resources.limits).toMatchObject({
          memory: expect.any(String),
          'ephemeral-storage': expect.any(String),
        });
      }
    });

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

test('the component cpu-limits gives each container a CPU limit that is no less than its request', async () => {
  await using room = await openRoom('ori-limits');
  const limited = renderWith('components/cpu-limits', 'overlays/signing-log', room.directory).filter(podOf);
  for (const { resources } of [...limited.flatMap((each) => podOf(each).containers), ...greeter.containers]) {
    expect(Number(resources.limits.cpu) * 1000).toBeGreaterThanOrEqual(
      Number.parseInt(resources.requests.cpu, 10),
    );
    expect(resources.requests.cpu).toMatch(/^\d+m$/);
  }
  expect(names(limited).toSorted()).toEqual(['log', ...names(own)].toSorted());
});

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

test('a synced site runs the migrations once for each change, and what they need is there before', () => {
  const job = find(manifests, 'migrate', 'Job');
  // A job that removes itself is a difference, and runs again.
  expect(job.spec.ttlSecondsAfterFinished).toBeUndefined();
  expect(job.metadata.annotations).toEqual({
    'argocd.argoproj.io/hook': 'Sync',
    'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
    'argocd.argoproj.io/sync-wave': '-1',
    'kustomize.toolkit.fluxcd.io/force': 'enabled',
  });
  const early = render('overlays/operators').filter(
    ({ metadata }) => metadata.annotations?.['argocd.argoproj.io/sync-wave'] === '-1',
  );
  expect(early.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
    'ExternalSecret database-owner',
    'Job migrate',
    'Namespace ori',
    'ServiceAccount admin',
  ]);
});

test('every workload except the jobs is scaled and has a disruption budget', () => {
  const served = own.filter(({ kind }) => !kind.endsWith('Job'));
  expect(names(scaled).toSorted()).toEqual(names(served).toSorted());
});
