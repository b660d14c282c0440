import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readStages } from '../image/dockerfile.ts';
import { ROOT } from '../root.ts';
import { type Manifest, podOf, render } from './render.ts';

const manifests = render(join(ROOT, 'deploy/kubernetes/base'));
const of = (kind: string, name: string): Manifest =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name);
const workloads = manifests.filter((each) => podOf(each) !== undefined);
const scaled = manifests.filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
const graceSeconds = 10;

test('the namespace refuses pods that are not restricted', () => {
  expect(of('Namespace', 'ori').metadata.labels).toMatchObject({
    'pod-security.kubernetes.io/enforce': 'restricted',
  });
});

describe.each(workloads.map((each) => [each.metadata.name as string, each] as const))(
  '%s',
  (name, workload) => {
    const pod = podOf(workload);
    const [container, ...others] = pod.containers;

    test('is restricted: not root, no token, no capabilities, read-only', () => {
      expect(others).toEqual([]);
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
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    });

    test('gets no variables like SIGNER_PORT from a Service of that name', () => {
      expect(pod.enableServiceLinks).toBe(false);
    });

    test('requests its resources and limits its memory', () => {
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
    });

    test('runs an image of this release under its own entry point', () => {
      const target = name.replace(/^(?:migrate|rotate-keys|audit-export)$/, 'admin');
      expect(container.image).toBe(`ori/${target}:1.0.0`);
      expect(readStages().map((stage) => stage.name)).toContain(target);
      expect(container.command).toBeUndefined();
    });

    test('has secrets as files that only its group can read, and no secret values in a manifest', () => {
      for (const { secret } of pod.volumes.filter((volume: Manifest) => volume.secret)) {
        expect(secret.defaultMode).toBe(0o440);
      }
      for (const { name: key, value, valueFrom } of container.env ?? []) {
        expect(valueFrom, key).toBeUndefined();
        if (/URL|PASSWORD|SECRET|KEK|TOKEN/.test(key)) expect(key).toMatch(/_FILE$/);
        if (key.endsWith('_FILE')) {
          const mount = container.volumeMounts.find((each: Manifest) =>
            value.startsWith(`${each.mountPath}/`),
          );
          const volume = pod.volumes.find((each: Manifest) => each.name === mount?.name);
          expect(volume?.secret !== undefined || mount?.name === 'audit', `${key}=${value}`).toBe(true);
        }
      }
      for (const mount of container.volumeMounts) {
        const claimed = workload.spec.volumeClaimTemplates?.map((each: Manifest) => each.metadata.name) ?? [];
        expect([...pod.volumes.map((each: Manifest) => each.name), ...claimed]).toContain(mount.name);
      }
    });
  },
);

describe.each(['signer', 'management'])('%s', (name) => {
  const workload = workloads.find(({ metadata }) => metadata.name === name);
  const [container] = podOf(workload).containers;
  const exposed = readStages()
    .find((stage) => stage.name === name)
    ?.steps.find(({ keyword }) => keyword === 'EXPOSE')?.text;

  test('listens on the image’s ports, and the Service targets them', () => {
    const ports = container.ports.map((port: Manifest) => port.containerPort);
    expect(ports.join(' ')).toBe(exposed);
    const [port, ...more] = of('Service', name).spec.ports;
    expect(more).toEqual([]);
    expect(port).toMatchObject({ port: ports[0], targetPort: 'api' });
    expect(container.ports[0].name).toBe('api');
  });

  test('is live by /livez on the ops port, and ready while it accepts connections', () => {
    const at = (probe: Manifest) => `${probe.httpGet.port} ${probe.httpGet.path}`;
    expect(at(container.startupProbe)).toBe('ops /livez');
    expect(at(container.livenessProbe)).toBe('ops /livez');
    expect(container.readinessProbe.tcpSocket).toEqual({ port: 'api' });
    expect(container.ports[1].name).toBe('ops');
  });

  test('has time to stop: the drain, the grace period for requests, and a margin', () => {
    const drain = container.env.find((each: Manifest) => each.name.endsWith('_SHUTDOWN_DRAIN_MS'));
    const { terminationGracePeriodSeconds } = podOf(workload);
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      Number(drain.value) / 1000 + graceSeconds + 5,
    );
  });
});

test('the audit log of each signer is on its own claim, which outlives the pod', () => {
  const { volumeClaimTemplates, serviceName, persistentVolumeClaimRetentionPolicy } = of(
    'StatefulSet',
    'signer',
  ).spec;
  expect(volumeClaimTemplates[0].spec.accessModes).toEqual(['ReadWriteOnce']);
  expect(persistentVolumeClaimRetentionPolicy).toBeUndefined();
  expect(of('Service', serviceName).spec.clusterIP).toBe('None');
});

describe.each(scaled.map((each) => [each.metadata.name as string, each] as const))(
  'the scale of %s',
  (name, { spec }) => {
    test('is set only by the autoscaler, at least two, and one pod at a time may be evicted', () => {
      const { apiVersion, kind } = spec.scaleTargetRef;
      const workload = of(kind, spec.scaleTargetRef.name);
      expect(workload.apiVersion).toBe(apiVersion);
      expect(workload.spec.replicas).toBeUndefined();
      expect(spec.minReplicas).toBeGreaterThanOrEqual(2);
      expect(spec.maxReplicas).toBeGreaterThan(spec.minReplicas);
      const budget = of('PodDisruptionBudget', name).spec;
      expect(budget.maxUnavailable).toBeLessThan(spec.minReplicas);
      expect(budget.selector).toEqual(workload.spec.selector);
    });

    test('spreads across zones and machines', () => {
      const constraints = podOf(of(spec.scaleTargetRef.kind, name)).topologySpreadConstraints;
      expect(constraints.map((each: Manifest) => each.topologyKey)).toEqual([
        'topology.kubernetes.io/zone',
        'kubernetes.io/hostname',
      ]);
    });
  },
);

test('every workload except the jobs is scaled and has a disruption budget', () => {
  const names = workloads.filter(({ kind }) => !kind.endsWith('Job')).map(({ metadata }) => metadata.name);
  expect(scaled.map(({ metadata }) => metadata.name).toSorted()).toEqual(names.toSorted());
});
