import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { findProgram } from '../../env/room.ts';

const run = promisify(execFile);
const VERSION = 'v1.36.3';
const COLLECTOR = 'v0.161.0';
const VMAGENT = 'github.com/VictoriaMetrics/VictoriaMetrics/app/vmagent@v1.151.0';
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/ori-operators');

/** The custom resources that our manifests use, by module. */
const DEFINITIONS = {
  'github.com/prometheus-operator/prometheus-operator@v0.85.0':
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
  'github.com/external-secrets/external-secrets@v1.3.2':
    'config/crds/bases/external-secrets.io_externalsecrets.yaml',
};

/**
 * What a cluster needs, built from Go modules and kept: ten minutes of two cores the first time. etcd is Debian's.
 *
 * @throws Error if there is no etcd, or no Go that builds them
 */
export async function findBinaries() {
  const etcd = findProgram('etcd');
  if (etcd === undefined) throw new Error('There is no etcd here: apt-get install etcd-server');
  await mkdir(CACHE, { recursive: true });
  const definitions = Object.entries(DEFINITIONS).map(async ([module, file]) =>
    join((await download(module)).Dir, file),
  );
  return {
    etcd,
    ...(await buildKubernetes()),
    engines: await build('engines', ['.'], await copyEngines()),
    definitions: await Promise.all(definitions),
  };
}

/** An OpenTelemetry Collector, made by its builder, and vmagent; built and kept. @throws Error without Go */
export async function findTelemetry() {
  const folder = join(CACHE, 'collector');
  await mkdir(folder, { recursive: true });
  const [own, contrib] = [
    'go.opentelemetry.io/collector',
    'github.com/open-telemetry/opentelemetry-collector-contrib',
  ];
  const manifest = {
    dist: { name: 'collector', module: 'ori.example/collector', output_path: folder },
    receivers: [{ gomod: `${own}/receiver/otlpreceiver ${COLLECTOR}` }],
    exporters: [{ gomod: `${contrib}/exporter/fileexporter ${COLLECTOR}` }],
    extensions: [{ gomod: `${contrib}/extension/bearertokenauthextension ${COLLECTOR}` }],
  };
  await writeFile(join(CACHE, 'collector.json'), JSON.stringify(manifest));
  const program = join(folder, 'collector');
  const builder = ['run', `${own}/cmd/builder@${COLLECTOR}`, '--config', join(CACHE, 'collector.json')];
  if (!existsSync(program)) await go(CACHE, ...builder);
  const vmagent = join(CACHE, 'vmagent');
  if (!existsSync(vmagent)) await run('go', ['install', VMAGENT], { env: { ...process.env, GOBIN: CACHE } });
  return { collector: program, vmagent };
}

async function buildKubernetes() {
  const folder = join(CACHE, 'kubernetes');
  await mkdir(folder, { recursive: true });
  const { GoMod } = await download(`k8s.io/kubernetes@${VERSION}`);
  const staged = [...(await readFile(GoMod, 'utf8')).matchAll(/^\s*(k8s\.io\/\S+) => \.\/staging/gm)];
  const replaced = staged.map(([, name]) => `replace ${name} => ${name} ${VERSION.replace('v1', 'v0')}`);
  const head = ['module ori.example/kubernetes', 'go 1.26.0', `require k8s.io/kubernetes ${VERSION}`];
  await writeFile(join(folder, 'go.mod'), [...head, ...replaced, ''].join('\n'));
  const commands = ['kube-apiserver', 'kube-controller-manager'];
  const imports = commands.map((name) => `import _ "k8s.io/kubernetes/cmd/${name}"`);
  await writeFile(join(folder, 'tools.go'), ['//go:build tools', 'package tools', ...imports, ''].join('\n'));
  const [apiserver = '', controllers = ''] = commands;
  const paths = (name: string) => [`k8s.io/kubernetes/cmd/${name}`];
  return {
    apiserver: await build(apiserver, paths(apiserver), folder),
    controllers: await build(controllers, paths(controllers), folder),
  };
}

async function copyEngines(): Promise<string> {
  const folder = join(CACHE, 'engines-source');
  await cp(join(import.meta.dirname, 'engines'), folder, { recursive: true });
  return folder;
}

/** The path of a program, built unless it is newer than its sources. */
async function build(name: string, packages: readonly string[], cwd: string): Promise<string> {
  const path = join(CACHE, name);
  const marker = `${path}.version`;
  const sources = await Promise.all(
    ['go.mod', 'main.go'].map((file) => readFile(join(cwd, file), 'utf8').catch(() => '')),
  );
  const version = JSON.stringify(sources);
  const built = await readFile(marker, 'utf8').catch(() => '');
  if (built === version) return path;
  console.log(`building ${name} …`);
  await go(cwd, 'mod', 'tidy');
  await go(
    cwd,
    'build',
    '-trimpath',
    '-ldflags',
    `-s -w -X k8s.io/component-base/version.gitVersion=${VERSION}`,
    '-o',
    path,
    ...packages,
  );
  await writeFile(marker, version);
  return path;
}

function go(cwd: string, ...words: string[]) {
  return run('nice', ['-n', '15', 'go', ...words], { cwd, maxBuffer: 1 << 26 });
}

async function download(module: string): Promise<{ Dir: string; GoMod: string }> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: CACHE, env: process.env });
  return JSON.parse(stdout);
}
