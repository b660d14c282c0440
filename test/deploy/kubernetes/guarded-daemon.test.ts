import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { makeAnswerKey } from '@ori/administration/answer-keys';
import { loadGuardConfig } from '@ori/guard';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../root.ts';
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

/** What the guard reads of these settings, where the key is at `path`. */
async function keyOf(
  settings: Record<string, string>,
  path: string,
  mode = 0o600,
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'ori-answer-key-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { text } = makeAnswerKey();
  await writeFile(join(folder, 'answer.key'), text, { mode });
  const { GUARD_ROOT_FILE, GUARD_SPOOL_FOLDER, GUARD_ANSWER_KEY_FILE, ...others } = settings;
  expect(GUARD_ANSWER_KEY_FILE).toBe(path);
  const config = loadGuardConfig({ ...others, GUARD_ANSWER_KEY_FILE: join(folder, 'answer.key') });
  return config.answerKey?.reveal() === text.trim() ? 'read' : undefined;
}

test('the component answer-key gives the guard the file of the Secret that its comment makes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ori-answer-key-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const at = (path: string) => JSON.stringify(relative(folder, join(ROOT, 'deploy/kubernetes', path)));
  const site = `resources: [${at('overlays/guarded-daemon')}]\ncomponents: [${at('components/answer-key')}]\n`;
  await writeFile(join(folder, 'kustomization.yaml'), site);
  const { containers, volumes } = podOf(find(render(folder), 'greeter', 'Deployment'));
  const [{ env: given, volumeMounts }] = containers;
  const settings = Object.fromEntries(given.map(({ name, value }: Manifest) => [name, value]));
  const page = readFileSync(join(ROOT, 'deploy/kubernetes/components/answer-key/kustomization.yaml'), 'utf8');
  const [, secret, file] = /create secret generic (\S+) --from-file=(\S+)/.exec(page) ?? [];
  const volume = volumes.find(({ secret: of }: Manifest) => of?.secretName === secret);
  const mount = volumeMounts.find(({ name }: Manifest) => name === volume.name);
  const { defaultMode } = volume.secret;
  expect(await keyOf(settings, `${mount.mountPath}/${file}`, defaultMode)).toBe('read');
});

test('the Compose file of the README of the guard gives it the secret file', async () => {
  const page = readFileSync(join(ROOT, 'services/guard/README.md'), 'utf8');
  const [, block = ''] =
    /with Compose, the guard runs as\nthe owner of the file:\n\n((?: {4}.*\n)+)/.exec(page) ?? [];
  const { services, secrets } = parse(block);
  const [name = ''] = services.guard.secrets;
  expect(secrets[name]).toEqual({ file: 'answer.key' });
  expect(await keyOf({ ...env, ...services.guard.environment }, `/run/secrets/${name}`)).toBe('read');
});
