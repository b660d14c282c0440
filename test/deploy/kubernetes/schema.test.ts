import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRoom } from '../../env/room.ts';
import { ROOT } from '../root.ts';
import { find, type Manifest, OVERLAYS, render } from './render.ts';

const base = render('base');
// Its operator publishes no package with its schema.
const manifests = [...base, ...OVERLAYS.flatMap(render)].filter(({ kind }) => kind !== 'ExternalSecret');

test('every manifest conforms to the published schema of Kubernetes', async () => {
  const wrong = structuredClone(find(base, 'gateway'));
  wrong.spec.template.spec.terminationGracePeriodSeconds = 'soon';
  const problems: string[] = [];
  for (const manifest of [...manifests, wrong]) {
    const { [manifest.kind]: Model } = await import(moduleOf(manifest));
    try {
      new Model(manifest).validate();
    } catch (error) {
      problems.push(String(error));
    }
  }
  expect(problems).toEqual([expect.stringContaining('terminationGracePeriodSeconds')]);
});

// The API server drops them silently. The types are generated from the schema and list every field.
test('no manifest has a field unknown to Kubernetes', async () => {
  const misspelt = structuredClone(find(base, 'gateway'));
  misspelt.spec.template.spec.enableServiceLink = false;
  await using room = await openRoom('ori-manifests');
  const cwd = room.directory;
  await symlink(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
  const lines = [...manifests, misspelt].map((manifest, index) => {
    const type = `import('${moduleOf(manifest)}').I${manifest.kind}`;
    return `export const manifest${index}: ${type} = ${JSON.stringify(manifest, null, 1)};`;
  });
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}');
  await writeFile(join(cwd, 'manifests.ts'), lines.join('\n'));
  const flags = '--noEmit --strict --skipLibCheck --module nodenext --types'.split(' ');
  const words = [...flags, '', 'manifests.ts'];
  const output = await new Promise<string>((resolve) => {
    execFile(join(ROOT, 'node_modules/.bin/tsc'), words, { cwd }, (_, stdout) => resolve(stdout));
  });
  expect(output.split('\n').filter((line) => line.includes('error'))).toEqual([
    expect.stringContaining('enableServiceLink'),
  ]);
});

/** The module of `kubernetes-models` for a kind, generated from the OpenAPI document that Kubernetes publishes. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  return `kubernetes-models/${apiVersion}/${kind}`;
}
