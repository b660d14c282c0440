import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../root.ts';
import type { Manifest } from './render.ts';

/** The module of `kubernetes-models` for a kind, generated from the OpenAPI document that Kubernetes publishes. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  return `kubernetes-models/${apiVersion}/${kind}`;
}

/** Errors by the published schema: wrong types, missing fields, invalid values. */
export async function complaintsOf(manifest: Manifest): Promise<string[]> {
  const { [manifest.kind]: Model } = await import(moduleOf(manifest));
  try {
    new Model(manifest).validate();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/**
 * Fields that the published schema does not have. The API server drops them silently; the types generated from the
 * same schema list every field, so the compiler finds them.
 */
export async function unknownFields(manifests: readonly Manifest[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ori-manifests-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const lines = manifests.map((manifest, index) => {
      const type = `import('${moduleOf(manifest)}').I${manifest.kind}`;
      return `export const manifest${index}: ${type} = ${JSON.stringify(manifest, null, 1)};`;
    });
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'manifests.ts'), lines.join('\n'));
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
    return await new Promise((resolve) => {
      execFile(
        join(ROOT, 'node_modules/.bin/tsc'),
        [...flags, 'manifests.ts'],
        { cwd: folder },
        (_, stdout) => resolve(stdout.split('\n').filter((line) => line.includes('error'))),
      );
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}
