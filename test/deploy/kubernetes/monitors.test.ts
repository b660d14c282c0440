import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../root.ts';
import { find, type Manifest, podOf, render } from './render.ts';

const component = 'components/prometheus-operator';

test('each service has a PodMonitor of its job, on the ops port that Prometheus’s namespace can reach', () => {
  const base = render('base');
  const monitors = render(component);
  expect(monitors.map(({ metadata }) => metadata.name)).toEqual(['gateway', 'management', 'signer']);
  for (const { kind, metadata, spec } of monitors) {
    expect(kind).toBe('PodMonitor');
    // The rules use this label's value as the name of the job.
    expect(spec.selector.matchLabels).toEqual({ [spec.jobLabel]: metadata.name });
    const chosen = base.filter(
      (each) => each.spec?.template?.metadata.labels[spec.jobLabel] === metadata.name,
    );
    expect(chosen).toHaveLength(1);
    const [endpoint] = spec.podMetricsEndpoints;
    expect(endpoint.path).toBe('/metrics');
    const named = podOf(chosen[0]).containers[0].ports.find(({ name }: Manifest) => name === endpoint.port);
    const { ingress } = find(base, metadata.name, 'NetworkPolicy').spec;
    const reachable = ingress.flatMap(({ ports }: Manifest) => ports.map(({ port }: Manifest) => port));
    expect(reachable).toContain(named.containerPort);
  }
});

test('the PrometheusRules contain the rules of the shipped files', () => {
  const script = join(ROOT, 'deploy/kubernetes', component, 'rules.sh');
  const documents = parseAllDocuments(execFileSync('sh', [script], { encoding: 'utf8' }));
  const made: Manifest[] = documents.map((document) => document.toJS());
  const rulesOf = (name: string) => ({
    kind: 'PrometheusRule',
    metadata: { name: `ori-${name}` },
    spec: parse(readFileSync(join(ROOT, `deploy/prometheus/${name}.rules.yml`), 'utf8')),
  });
  expect(made).toMatchObject(['slo', 'alerts'].map(rulesOf));
});
