import { loadGuardConfig } from '@ori/guard';
import { expect, test } from 'vitest';
import { find, type Manifest, podOf, render } from './render.ts';

const manifests = render('overlays/guarded-daemon');
const of = (kind: string): Manifest => find(manifests, 'greeter', kind);
const pod = podOf(of('Deployment'));
const [guard, daemon] = pod.containers;
const env = Object.fromEntries(guard.env.map(({ name, value }: Manifest) => [name, value]));

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

test('the daemon is there until the guard has stopped, and has ten seconds of its own then', () => {
  const { GUARD_ROOT_FILE, GUARD_SPOOL_FOLDER, ...others } = env;
  const { shutdownDrainMs, shutdownGraceMs } = loadGuardConfig(others);
  const { seconds } = daemon.lifecycle.preStop.sleep;
  expect(seconds * 1000).toBeGreaterThan(shutdownDrainMs + shutdownGraceMs);
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(seconds + 10);
});
