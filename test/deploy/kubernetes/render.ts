import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { kubectl } from '../../env/kubectl.ts';
import { ROOT } from '../root.ts';

// biome-ignore lint/suspicious/noExplicitAny: a manifest has the shape of its kind, which the schemas check.
export type Manifest = any;

export const OVERLAYS = ['example', 'signing-log', 'guarded-daemon', 'operators'].map(
  (name) => `overlays/${name}`,
);

const KUBERNETES = join(ROOT, 'deploy/kubernetes');

/** The manifests of a folder below deploy/kubernetes; names of generated ConfigMaps without their hash. */
export function render(folder: string): Manifest[] {
  const words = ['kustomize', resolve(KUBERNETES, folder)];
  const text = execFileSync(kubectl(), words, { encoding: 'utf8' });
  const documents = parseAllDocuments(text.replaceAll(/(name: \S+)-[bcdfghkm2456789t]{10}$/gm, '$1'));
  return documents.map((document) => document.toJS());
}

/** The manifest of that kind and name. Without a kind, the workload of that name. */
export function find(manifests: readonly Manifest[], name: string, kind?: string): Manifest {
  const found = manifests.find(
    (each) => each.metadata.name === name && (kind === undefined ? podOf(each) : each.kind === kind),
  );
  if (!found) throw new Error(`no ${kind ?? 'workload'} ${name}`);
  return found;
}

/** The pod of a Deployment, StatefulSet, Job or CronJob. Undefined for other kinds. */
export function podOf(manifest: Manifest): Manifest | undefined {
  return (manifest.spec?.jobTemplate?.spec ?? manifest.spec)?.template?.spec;
}
