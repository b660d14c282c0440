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

// The types are generated from the schema, and list every field. The API server drops unknown ones silently.
test('every manifest conforms to the published schema of Kubernetes, and has no other field', async () => {
  const [wrong, misspelt, lacking] = [1, 2, 3].map(() => structuredClone(find(base, 'gateway')));
  wrong.spec.template.spec.terminationGracePeriodSeconds = 'soon';
  misspelt.spec.template.spec.enableServiceLink = false;
  delete lacking.spec.selector;
  await using room = await openRoom('ori-manifests');
  const cwd = room.directory;
  await symlink(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
  const lines = [...manifests, wrong, misspelt, lacking].map((manifest, index) => {
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
    expect.stringContaining("'string' is not assignable to type 'number'"),
    expect.stringContaining('enableServiceLink'),
    expect.stringContaining('"selector"\' is missing'),
  ]);
});

/** The module of `kubernetes-models` for a kind, generated from the OpenAPI document that Kubernetes publishes. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  return `kubernetes-models/${apiVersion}/${kind}`;
}
