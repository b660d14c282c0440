import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../root.ts';
import { type Manifest, podOf, render } from './render.ts';

const pods = (manifests: readonly Manifest[]) =>
  manifests
    .filter((each) => podOf(each))
    .map(({ spec }) => (spec.jobTemplate?.spec ?? spec).template.metadata.labels);
const policies = (manifests: readonly Manifest[]) => manifests.filter(({ kind }) => kind === 'NetworkPolicy');

/** One line per connection that a policy allows: `signer:8081 <- gateway`. */
function allowed(manifests: readonly Manifest[]): string[] {
  const name = (selector: Manifest) => selector?.matchLabels?.['app.kubernetes.io/name'] ?? '*';
  const peer = ({ podSelector, namespaceSelector, ipBlock }: Manifest) =>
    ipBlock
      ? [ipBlock.cidr, ...(ipBlock.except ?? []).map((cidr: string) => `not ${cidr}`)].join(' ')
      : namespaceSelector
        ? `${namespaceSelector.matchLabels['kubernetes.io/metadata.name']}/${podSelector?.matchExpressions[0].values ?? '*'}`
        : name(podSelector);
  return policies(manifests)
    .flatMap(({ spec }) => {
      const one = name(spec.podSelector);
      const lines = (rules: readonly Manifest[] = [], arrow: string, key: string) =>
        rules.flatMap((rule) =>
          rule.ports.flatMap(({ port }: Manifest) =>
            (rule[key]?.map(peer) ?? ['anywhere']).map((other: string) => `${one} ${arrow} ${other} ${port}`),
          ),
        );
      return [...lines(spec.ingress, '<-', 'from'), ...lines(spec.egress, '->', 'to')];
    })
    .toSorted();
}

test('every pod is denied all traffic that no policy allows, in both directions', () => {
  const base = render('base');
  const everything = policies(base).find(({ metadata }) => metadata.name === 'nothing-else');
  expect(everything.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  const names = [...new Set(pods(base).map((labels) => labels['app.kubernetes.io/name']))];
  const selected = policies(base).map(({ spec }) => spec.podSelector.matchLabels?.['app.kubernetes.io/name']);
  expect([...new Set(selected.filter((name) => name !== undefined))].toSorted()).toEqual(names.toSorted());
});

test('a site allows exactly the connections of the architecture', () => {
  expect(allowed(render('overlays/example'))).toEqual(
    [
      '* -> kube-system/kube-dns 53',
      '* -> kube-system/kube-dns 53',
      'gateway <- anywhere 8443',
      'gateway <- monitoring/* 9080',
      'gateway -> signer 8081',
      'gateway -> management 8082',
      'signer <- gateway 8081',
      'signer <- monitoring/* 9081',
      'signer <- admin 9081',
      'signer -> 10.20.0.10/32 5432',
      'signer -> 10.20.0.20/32 6379',
      'signer -> 203.0.113.7/32 443',
      'management <- gateway 8082',
      'management <- monitoring/* 9082',
      'management <- admin 9082',
      'management -> 10.20.0.10/32 5432',
      'management -> 203.0.113.7/32 443',
      'admin -> 10.20.0.10/32 5432',
      'admin -> signer 9081',
      'admin -> management 9082',
    ].toSorted(),
  );
});

test('a label that a site adds to every selector is not asked of the name servers, which are not its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ori-labels-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const resources = [relative(folder, `${ROOT}deploy/kubernetes/overlays/example`)];
  const labels = [{ pairs: { team: 'a' }, includeSelectors: true }];
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify({ resources, labels }));
  const peers = policies(render(folder))
    .flatMap(({ spec }) => spec.egress ?? [])
    .flatMap(({ to }) => to);
  const own = peers.filter(({ podSelector, namespaceSelector }) => podSelector && !namespaceSelector);
  for (const { podSelector } of own) expect(podSelector.matchLabels).toMatchObject({ team: 'a' });
  const foreign = peers.filter(({ namespaceSelector }) => namespaceSelector);
  expect(JSON.stringify(foreign)).toContain('kube-dns');
  expect(JSON.stringify(foreign)).not.toContain('team');
});

test('stores in the cluster can be reached by the services that use them', () => {
  const component = policies(render('overlays/operators')).filter(({ metadata }) =>
    metadata.name.startsWith('to-'),
  );
  const lines = component.map(({ spec: { podSelector, egress } }) => [
    podSelector.matchLabels?.['app.kubernetes.io/name'] ?? podSelector.matchExpressions[0].values.join(' '),
    egress[0].to[0].namespaceSelector.matchLabels['kubernetes.io/metadata.name'],
    egress[0].ports.map(({ port }: Manifest) => port),
  ]);
  expect(lines).toEqual([
    ['signer management admin', 'postgresql', [5432]],
    ['signer', 'redis', [6379, 26379]],
  ]);
});

test('the base allows stores only at private addresses, and no access to a cloud’s metadata service', () => {
  for (const line of allowed(render('base')).filter((each) => / -> \d/.test(each))) {
    expect(line).toMatch(
      /(10\.0\.0\.0\/8|172\.16\.0\.0\/12|192\.168\.0\.0\/16) (5432|6379|26379)$|0\.0\.0\.0\/0 not 169\.254\.0\.0\/16 443$/,
    );
  }
});
