import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../root.ts';
import { type Manifest, podOf, render } from './render.ts';

const base = render(join(ROOT, 'deploy/kubernetes/base'));
const monitors = render(join(ROOT, 'deploy/kubernetes/components/prometheus-operator'));

test('each service has a PodMonitor with the job name that the rules use', () => {
  expect(monitors.map(({ metadata }) => metadata.name)).toEqual(['signer', 'management', 'gateway']);
  for (const { kind, spec } of monitors) {
    expect(kind).toBe('PodMonitor');
    const [[label, value] = []] = Object.entries(spec.selector.matchLabels);
    expect(spec.jobLabel).toBe(label);
    const chosen = base.filter((each) => each.spec?.template?.metadata.labels[String(label)] === value);
    expect(chosen).toHaveLength(1);
    expect(['signer', 'management', 'gateway']).toContain(value);
  }
});

test('it scrapes the ops port, which Prometheus’s namespace can reach', () => {
  for (const { metadata, spec } of monitors) {
    const workload = base.find((each) => podOf(each) && each.metadata.name === metadata.name);
    const [endpoint] = spec.podMetricsEndpoints;
    const named = podOf(workload).containers[0].ports.find((port: Manifest) => port.name === endpoint.port);
    const policy = base.find((each) => each.kind === 'NetworkPolicy' && each.metadata.name === metadata.name);
    const reachable = policy.spec.ingress.flatMap((rule: Manifest) =>
      rule.ports.map((port: Manifest) => port.port),
    );
    expect(endpoint.path).toBe('/metrics');
    expect(reachable).toContain(named.containerPort);
  }
});

test('the PrometheusRules contain the rules of the shipped files', () => {
  const script = join(ROOT, 'deploy/kubernetes/components/prometheus-operator/rules.sh');
  const { stdout } = spawnSync('sh', [script], { encoding: 'utf8' });
  const made = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
  expect(made.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
    ['PrometheusRule', 'ori-slo'],
    ['PrometheusRule', 'ori-alerts'],
  ]);
  for (const { spec, metadata } of made) {
    const file = join(ROOT, `deploy/prometheus/${metadata.name.replace('ori-', '')}.rules.yml`);
    expect(spec).toEqual(parse(readFileSync(file, 'utf8')));
  }
});
