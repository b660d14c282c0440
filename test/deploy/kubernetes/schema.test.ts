import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { findProgram } from '../../env/room.ts';
import { ROOT } from '../root.ts';
import { type Manifest, render } from './render.ts';
import { complaintsOf, unknownFields } from './schemas.ts';

const FOLDERS = [
  'base',
  ...['example', 'signing-log', 'guarded-daemon', 'operators'].map((name) => `overlays/${name}`),
].map((name) => [name, join(ROOT, 'deploy/kubernetes', name)] as const);
const kubectl = findProgram('kubectl');
if (!kubectl)
  console.log('Not run: the comparison with `kubectl kustomize`, because there is no kubectl here.');

describe.each(FOLDERS)('%s', (_, folder) => {
  const manifests = render(folder);
  // Of an operator, which publishes no package with its schema.
  const known = manifests.filter(({ kind }) => kind !== 'ExternalSecret');

  test.each(known.map((each) => [`${each.kind} ${each.metadata.name}`, each]))(
    '%s conforms to the published schema of Kubernetes',
    async (_, manifest) => {
      expect(await complaintsOf(manifest)).toEqual([]);
    },
  );

  test('no manifest has a field unknown to Kubernetes', async () => {
    expect(await unknownFields(known)).toEqual([]);
  });

  test.skipIf(!kubectl)('kubectl kustomize builds the same', () => {
    const { stdout, stderr, status } = spawnSync(kubectl as string, ['kustomize', folder], {
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
    const built = parseAllDocuments(
      stdout.replace(
        /((?:admin|signer|management|log)-settings|gateway-site|guard-root)-[a-z0-9]{10}\b/g,
        '$1',
      ),
    );
    const sorted = (list: readonly Manifest[]) =>
      list.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)));
    expect(sorted(built.map((document) => document.toJS()))).toEqual(sorted(manifests));
  });
});

test('detects a field of the wrong type and a misspelt field', async () => {
  const [deployment] = render(join(ROOT, 'deploy/kubernetes/base')).filter(
    ({ kind }) => kind === 'Deployment',
  );
  const wrong = structuredClone(deployment);
  wrong.spec.template.spec.terminationGracePeriodSeconds = 'soon';
  expect(await complaintsOf(wrong)).toEqual([expect.stringContaining('terminationGracePeriodSeconds')]);
  const misspelt = structuredClone(deployment);
  misspelt.spec.template.spec.enableServiceLink = false;
  expect(await unknownFields([misspelt])).toEqual([expect.stringContaining('enableServiceLink')]);
});

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}
