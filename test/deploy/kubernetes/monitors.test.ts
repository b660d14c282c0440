import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../root.ts';
import { find, type Manifest, podOf, render } from './render.ts';

const component = 'components/prometheus-operator';

function rules(release?: string): Manifest[] {
  const script = join(ROOT, 'deploy/kubernetes', component, 'rules.sh');
  const env = { ...process.env, ...(release !== undefined && { RELEASE: release }) };
  const documents = parseAllDocuments(execFileSync('sh', [script], { encoding: 'utf8', env }));
  return documents.map((document) => document.toJS());
}

test('each service has a PodMonitor of its job, on the ops port that Prometheus’s namespace can reach', () => {
  const everything = [...render('overlays/signing-log'), ...render('overlays/guarded-daemon')];
  const monitors = render(component);
  const jobs = ['gateway', 'guard', 'log', 'management', 'signer'];
  expect(monitors.map(({ metadata }) => metadata.name).toSorted()).toEqual(jobs);
  for (const { kind, metadata, spec } of monitors) {
    expect(kind).toBe('PodMonitor');
    // The rules use this label's value as the name of the job.
    expect(spec.selector.matchLabels).toEqual({ [spec.jobLabel]: metadata.name });
    const chosen = everything.filter(
      (each) => each.spec?.template?.metadata.labels[spec.jobLabel] === metadata.name,
    );
    expect(chosen).toHaveLength(1);
    const [endpoint] = spec.podMetricsEndpoints;
    expect(endpoint.path).toBe('/metrics');
    const named = podOf(chosen[0]).containers[0].ports.find(({ name }: Manifest) => name === endpoint.port);
    const { ingress } = find(everything, chosen[0].metadata.name, 'NetworkPolicy').spec;
    const reachable = ingress.flatMap(({ ports }: Manifest) => ports.map(({ port }: Manifest) => port));
    expect(reachable).toContain(named.containerPort);
  }
});

test('monitors and rules have the label by which the usual Prometheus selects them', () => {
  for (const { metadata } of [...render(component), ...rules()])
    expect(metadata.labels).toEqual({ release: 'kube-prometheus-stack' });
  expect(rules('ours')[0].metadata.labels).toEqual({ release: 'ours' });
});

test('the PrometheusRules contain the rules of the shipped files', () => {
  const rulesOf = (name: string) => ({
    kind: 'PrometheusRule',
    metadata: { name: `ori-${name}` },
    spec: parse(readFileSync(join(ROOT, `deploy/prometheus/${name}.rules.yml`), 'utf8')),
  });
  expect(rules()).toMatchObject(['slo', 'alerts'].map(rulesOf));
});
