import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: a manifest has the shape of its kind, which the schemas check.
export type Manifest = any;

interface Generator {
  readonly name: string;
  readonly behavior?: 'merge';
  readonly literals?: readonly string[];
  readonly files?: readonly string[];
}

interface Kustomization {
  readonly namespace?: string;
  readonly labels?: readonly { readonly pairs: Record<string, string> }[];
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly images?: readonly { readonly name: string; readonly newName?: string; readonly newTag?: string }[];
  readonly configMapGenerator?: readonly Generator[];
  readonly patches?: readonly { readonly path: string }[];
}

/** The Kustomize features that the manifests use. Others are refused, so that nothing is ignored. */
const KNOWN = 'apiVersion kind namespace labels resources components images configMapGenerator patches'.split(
  ' ',
);

/**
 * Builds a folder like `kubectl kustomize`, except for the hash in the names of generated ConfigMaps. It replaces
 * that program if it is not installed; if it is, a test compares the two.
 */
export function render(folder: string): Manifest[] {
  return build(folder, []);
}

/** @param below what a component changes */
function build(folder: string, below: Manifest[]): Manifest[] {
  const kustomization: Kustomization = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'));
  for (const key of Object.keys(kustomization))
    if (!KNOWN.includes(key)) throw new Error(`${folder}: ${key} is not known here`);
  const { resources = [], components = [], patches = [], namespace } = kustomization;
  let manifests = resources.flatMap((name) =>
    name.endsWith('.yaml') ? readManifests(join(folder, name)) : render(join(folder, name)),
  );
  manifests.unshift(...below);
  for (const name of components) manifests = build(join(folder, name), manifests);
  for (const generator of kustomization.configMapGenerator ?? []) generate(folder, generator, manifests);
  for (const patch of patches.flatMap(({ path }) => readManifests(join(folder, path)))) {
    Object.assign(
      find(manifests, patch.kind, patch.metadata.name),
      mergePatch(find(manifests, patch.kind, patch.metadata.name), patch),
    );
  }
  for (const manifest of manifests) {
    if (namespace && manifest.kind !== 'Namespace') manifest.metadata.namespace = namespace;
    for (const { pairs } of kustomization.labels ?? [])
      manifest.metadata.labels = { ...manifest.metadata.labels, ...pairs };
    for (const container of podOf(manifest)?.containers ?? [])
      container.image = rename(container.image, kustomization.images ?? []);
  }
  return manifests;
}

function readManifests(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
}

function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
}

function generate(
  folder: string,
  { name, behavior, literals = [], files = [] }: Generator,
  manifests: Manifest[],
): void {
  const data = Object.fromEntries([
    ...literals.map((literal) => /^([^=]+)=(.*)$/s.exec(literal)?.slice(1) ?? []),
    ...files.map((file) => [basename(file), readFileSync(join(folder, file), 'utf8')]),
  ]);
  if (behavior === 'merge') Object.assign(find(manifests, 'ConfigMap', name).data, data);
  else manifests.push({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
}

/** What identifies an element of the lists that Kubernetes merges. */
const KEYS: Readonly<Record<string, string>> = {
  ...{ containers: 'name', env: 'name', volumes: 'name', volumeMounts: 'mountPath' },
};

/** Objects are merged, and lists by their key, the patch first; everything else is replaced. */
function mergePatch(base: Manifest, patch: Manifest, list?: string): Manifest {
  if (base === null || patch === null || typeof base !== 'object' || typeof patch !== 'object') return patch;
  if (Array.isArray(base) || Array.isArray(patch)) {
    const key = KEYS[list ?? ''];
    if (key === undefined) return patch;
    const same = (one: Manifest) => (other: Manifest) => one[key] === other[key];
    return [
      ...patch.filter((each: Manifest) => !base.some(same(each))),
      ...base.map((each: Manifest) => mergePatch(each, patch.find(same(each)) ?? {})),
    ];
  }
  const merged = Object.entries(patch).map(([key, value]) => [
    key,
    key in base ? mergePatch(base[key], value, key) : value,
  ]);
  return { ...base, ...Object.fromEntries(merged) };
}

function rename(image: string, images: NonNullable<Kustomization['images']>): string {
  const [name = '', tag] = image.split(':');
  const rule = images.find((each) => each.name === name);
  return rule ? `${rule.newName ?? name}:${rule.newTag ?? tag}` : image;
}

/** The pod of a Deployment, StatefulSet, Job or CronJob. Undefined for other kinds. */
export function podOf(manifest: Manifest): Manifest | undefined {
  return (manifest.spec?.jobTemplate?.spec ?? manifest.spec)?.template?.spec;
}
