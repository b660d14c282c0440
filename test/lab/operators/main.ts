import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import process from 'node:process';
import { renderTable } from '../../env/text-table.ts';
import { until } from '../../env/until.ts';
import { findBinaries } from './binaries.ts';
import { type Ended, type Item, startCluster } from './cluster.ts';

/**
 * `npm run operators`: applies each overlay to a real API server alone, over each other one, twice, and as Flux and
 * Argo CD do, under the policies of policies.yaml. A row for each; ends with 1 if one differs from what a site needs. Half an
 * hour, and ten minutes more the first time. `npm run operators -- argo [alone]` runs a part: kubectl, flux, argo, growth.
 */
const KUBERNETES = join(import.meta.dirname, '../../../deploy/kubernetes');
const OVERLAYS = ['example', 'signing-log', 'operators', 'guarded-daemon'] as const;
const NAMESPACES = ['ori', 'greeter'];
/** As often as Argo CD looks in an hour. */
const LOOKS = 20;

type Manner = 'kubectl' | 'argo' | 'flux';
const problems: string[] = [];
const rows: string[][] = [['overlay', 'over', 'by', 'once', 'pods', 'twice', 'at rest', 'migrations']];

const binaries = await findBinaries();
await using cluster = await startCluster(binaries);
for (const file of binaries.definitions) await must(cluster.kube('apply', '--server-side', '-f', file));

/** The folder of a site: the overlay, with the components that the policies ask for. */
async function siteOf(overlay: string, components: readonly string[]): Promise<string> {
  const folder = join(cluster.directory, 'sites', [overlay, ...components].join('-'));
  await mkdir(folder, { recursive: true });
  const paths = (list: readonly string[]) =>
    JSON.stringify(list.map((each) => relative(folder, join(KUBERNETES, each))));
  const lines = [
    `namespace: ${overlay === 'guarded-daemon' ? 'greeter' : 'ori'}`,
    `resources: ${paths([`overlays/${overlay}`])}`,
    `components: ${paths(components)}`,
  ];
  await writeFile(join(folder, 'kustomization.yaml'), lines.join('\n'));
  const rendered = await must(cluster.kube('kustomize', folder));
  await writeFile(join(folder, 'all.yml'), rendered.said);
  return folder;
}

const componentsOf = (overlay: string) =>
  overlay === 'guarded-daemon'
    ? []
    : ['components/cpu-limits', ...(overlay === 'operators' ? ['components/prometheus-operator'] : [])];

async function must(ending: Promise<Ended>): Promise<Ended> {
  const ended = await ending;
  if (ended.code !== 0) throw new Error(ended.said);
  return ended;
}

/** Empty namespaces, as a platform team hands them over. */
async function startOver(): Promise<void> {
  await must(cluster.kube('delete', 'namespace', '--ignore-not-found', '--timeout=90s', ...NAMESPACES));
  for (const namespace of NAMESPACES) {
    await must(cluster.kube('create', 'namespace', namespace));
    await must(
      cluster.kube(
        '-n',
        namespace,
        'apply',
        '--server-side',
        '-f',
        join(import.meta.dirname, 'policies.yaml'),
      ),
    );
  }
}

/** Every pod that was asked for exists, runs its latest template, and every migration has ended. Else, what is missing. */
async function missingPods(): Promise<string[]> {
  const all = async (path: string) =>
    (await Promise.all(NAMESPACES.map((name) => cluster.list(path.replace('*', name))))).flat();
  const workloads = [
    ...(await all('/apis/apps/v1/namespaces/*/statefulsets')),
    ...(await all('/apis/apps/v1/namespaces/*/deployments')),
  ];
  const scalers = await all('/apis/autoscaling/v2/namespaces/*/horizontalpodautoscalers');
  const jobs = await all('/apis/batch/v1/namespaces/*/jobs');
  const least = (name: string) =>
    scalers.find(({ metadata }) => metadata.name === name)?.spec.minReplicas ?? 1;
  return [
    ...workloads.filter(({ metadata, spec, status }) => {
      const wanted = Math.max(spec.replicas, least(metadata.name));
      const { observedGeneration, replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status;
      const isLatest =
        observedGeneration === metadata.generation &&
        [replicas, updatedReplicas, readyReplicas].every((each) => each === wanted);
      return !isLatest;
    }),
    ...jobs.filter(({ status }) => status.succeeded !== 1),
  ].map(({ metadata }) => metadata.name);
}

/** What controllers were refused: quotas, limits, admission. */
async function refusals(): Promise<string[]> {
  const events = await cluster.list('/api/v1/events');
  return events
    .filter(({ reason, metadata }) => reason === 'FailedCreate' && NAMESPACES.includes(metadata.namespace))
    .map(({ involvedObject, message }) => `${involvedObject.name}: ${message}`);
}

async function settled(): Promise<string> {
  let missing: string[] = [];
  const holds = async () => {
    missing = await missingPods();
    return missing.length === 0;
  };
  await until('', holds)
    .catch(() => until('', holds))
    .catch(() => {});
  const refused = await refusals();
  return [...new Set([...missing, ...refused])].join('; ') || 'all';
}

const migrationOf = async (): Promise<string> => {
  const job: Item = await cluster.call('GET', '/apis/batch/v1/namespaces/ori/jobs/migrate');
  return job.metadata?.uid ?? 'none';
};

async function sync(
  manner: 'argo' | 'flux',
  folder: string,
): Promise<{ differences: string[]; failed: string[] }> {
  const { said } = await cluster.run(binaries.engines, [manner, join(folder, 'all.yml')]);
  const [result = said] = /^\{"differences".*$/m.exec(said) ?? [];
  return JSON.parse(result);
}

/** @returns what failed; empty: nothing */
async function applyOnce(manner: Manner, folder: string): Promise<string> {
  if (manner !== 'kubectl') return (await sync(manner, folder)).failed.join('; ');
  const { code, said } = await cluster.kube('apply', '-k', folder);
  return code === 0
    ? ''
    : said
        .split('\n')
        .filter((line) => /invalid|error|forbidden/i.test(line))
        .join('; ');
}

/** @returns what differs */
async function compare(manner: Manner, folder: string): Promise<string[]> {
  if (manner !== 'kubectl') {
    const { differences, failed } = await sync(manner, folder);
    return [...differences, ...failed];
  }
  const { code: differs, said: difference } = await cluster.kube('diff', '-k', folder);
  const before = await generations();
  const { code } = await cluster.kube('apply', '-k', folder);
  const changed = (await generations()).filter((each) => !before.includes(each));
  return [...(differs === 0 ? [] : [difference]), ...(code === 0 ? [] : ['failed']), ...changed];
}

/** How often each specification has changed. Of some that it does not change, kubectl says `configured`. */
async function generations(): Promise<string[]> {
  const kinds =
    'statefulsets,deployments,cronjobs,jobs,poddisruptionbudgets,networkpolicies,persistentvolumeclaims';
  const { said } = await cluster.kube('get', kinds, '--all-namespaces', '-o', 'json');
  return JSON.parse(said).items.map(
    ({ kind, metadata }: Item) => `${kind} ${metadata.name} ${metadata.generation ?? ''}`,
  );
}

async function judge(overlay: string, over: string | undefined, manner: Manner): Promise<void> {
  await startOver();
  if (over !== undefined) {
    await applyOnce(manner, await siteOf(over, componentsOf(over)));
    await settled();
  }
  const folder = await siteOf(overlay, componentsOf(overlay));
  const failed = await applyOnce(manner, folder);
  const pods = await settled();
  const before = await migrationOf();
  const twice = await compare(manner, folder);
  let [differences, migrations] = [0, 0];
  const looks = over === undefined && manner !== 'kubectl' ? LOOKS : 1;
  for (let look = 0; look < looks; look += 1) differences += (await compare(manner, folder)).length;
  if ((await migrationOf()) !== before) migrations += 1;
  const row = [
    overlay,
    over ?? '-',
    manner,
    failed || 'applied',
    pods,
    twice.join(', ') || 'no change',
    `${differences} differences in ${looks}`,
    String(migrations),
  ];
  rows.push(row);
  console.log(row.join(' | '));
  if (failed !== '' || pods !== 'all' || twice.length > 0 || differences > 0 || migrations > 0)
    problems.push(row.join(' | '));
}

/** The README's recipe for larger claims, word for word: the site is at rest with the new size. Tells whether pods were replaced. */
async function judgeGrowth(): Promise<void> {
  await startOver();
  const classOf = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    provisioner: 'lab',
    allowVolumeExpansion: true,
  };
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const volumes = ['audit-signer-0', 'audit-signer-1', 'audit-signer-2'].map((name) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '20Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'growing',
      claimRef: { namespace: 'ori', name },
      hostPath: { path: '/nowhere' },
    },
  }));
  const items = [{ ...classOf, metadata: { name: 'growing', annotations: isDefault } }, ...volumes];
  const made = join(cluster.directory, 'volumes.json');
  await writeFile(made, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await must(cluster.kube('apply', '-f', made));
  const folder = await siteOf('example', componentsOf('example'));
  await applyOnce('kubectl', folder);
  await settled();
  const of = async (kind: string, field: string) =>
    (await cluster.kube('-n', 'ori', 'get', kind, '-o', `jsonpath={.items[*]${field}}`)).said;
  await until('the claims are bound', async () =>
    /^(Bound ?){3}/.test((await of('pvc', '.status.phase')).replace('Pending ', '')),
  );
  const signers = async () => {
    const wanted = ['-l', 'app.kubernetes.io/name=signer', '-o', 'jsonpath={.items[*].metadata.uid}'];
    return (await cluster.kube('-n', 'ori', 'get', 'pods', ...wanted)).said.split(' ');
  };
  const before = await signers();
  const larger = {
    op: 'replace',
    path: '/spec/volumeClaimTemplates/0/spec/resources/requests/storage',
    value: '40Gi',
  };
  const text = await readFile(join(folder, 'kustomization.yaml'), 'utf8');
  const patch = `patches: [{ target: { kind: StatefulSet }, patch: '${JSON.stringify([larger])}' }]`;
  await writeFile(join(folder, 'kustomization.yaml'), `${text}\n${patch}\n`);
  const refused = await applyOnce('kubectl', folder);
  const readme = await readFile(join(KUBERNETES, 'README.md'), 'utf8');
  const [recipe = ''] = /^ {4}for n in 0 1 2; do kubectl[\s\S]+?(?=\n\n)/m.exec(readme) ?? [];
  const { code, said } = await cluster.run('sh', ['-ec', recipe.replace('overlays/example', folder)]);
  const pods = await settled();
  const after = await signers();
  const isKept = before.length > 1 && before.every((uid) => after.includes(uid));
  const sizes = await of('pvc', '.spec.resources.requests.storage');
  const twice = await compare('kubectl', folder);
  const row = [
    'example, larger claims',
    'example',
    'README',
    code === 0 ? 'applied' : said,
    isKept ? pods : `${pods}, signers were replaced`,
    twice.join(', ') || 'no change',
    sizes,
    '0',
  ];
  rows.push(row);
  console.log(row.join(' | '));
  const isRight =
    refused !== '' && code === 0 && pods === 'all' && twice.length === 0 && /(40Gi ?){3}/.test(sizes);
  if (!isRight) problems.push(row.join(' | '));
}

const [only, alone] = process.argv.slice(2);
for (const manner of ['kubectl', 'flux', 'argo'] as const)
  for (const overlay of OVERLAYS)
    for (const over of [undefined, ...OVERLAYS.filter((each) => each !== overlay)])
      if ((only ?? manner) === manner && (over === undefined || alone === undefined))
        await judge(overlay, over, manner);

if (only === undefined || only === 'growth') await judgeGrowth();
console.log(renderTable(rows));
console.log(await readFile('/proc/loadavg', 'utf8'));
console.log(`${rows.length - 1 - problems.length} passed, ${problems.length} failed`);
process.exitCode = problems.length === 0 ? 0 : 1;
