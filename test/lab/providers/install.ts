import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { SETUP } from './launch.ts';

const run = promisify(execFile);

/** Runs an installer with low priority, because it may compile for minutes. */
async function tool(cwd: string, program: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('nice', ['-n', '15', program, ...args], { cwd, maxBuffer: 64 * 1024 * 1024 });
  return stripVTControlCharacters(stdout).trim();
}

/** The folder of a provider in the cache. */
export async function folderOf(cache: string, name: string): Promise<string> {
  const folder = join(cache, name);
  await mkdir(folder, { recursive: true });
  return folder;
}

/** The newest versions that npm has, in `node_modules` of the folder. Returns the version of the first. */
export async function fromNpm(folder: string, ...packages: readonly string[]): Promise<string> {
  const newest = packages.map((name) => `${name}@latest`);
  await tool(
    folder,
    'npm',
    'install',
    '--no-audit',
    '--no-fund',
    '--legacy-peer-deps',
    '--prefix',
    folder,
    ...newest,
  );
  const manifest = join(folder, 'node_modules', packages[0] ?? '', 'package.json');
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/** The newest versions that PyPI has, in a virtual environment. Returns the version of the first. */
export async function fromPypi(folder: string, name: string, extras = ''): Promise<string> {
  const python = join(folder, 'venv/bin/python');
  if (!existsSync(python)) await tool(folder, 'python3', '-m', 'venv', 'venv');
  await tool(folder, python, '-m', 'pip', 'install', '-q', '--upgrade', `${name}${extras}`);
  return tool(folder, python, '-c', `import importlib.metadata as m; print(m.version('${name}'))`);
}

/** An unpacked distribution from Maven. */
export async function fromMaven(folder: string, group: string, artifact: string): Promise<string> {
  const downloads = join(folder, 'download');
  await rm(downloads, { recursive: true, force: true });
  const coordinates = `${group}:${artifact}:RELEASE:tar.gz`;
  await tool(
    folder,
    'mvn',
    '-q',
    '-B',
    'dependency:copy',
    `-Dartifact=${coordinates}`,
    `-DoutputDirectory=${downloads}`,
  );
  const [archive = ''] = await readdir(downloads);
  const version = archive.slice(artifact.length + 1, -'.tar.gz'.length);
  const home = join(folder, version);
  if (!existsSync(home)) {
    await mkdir(home);
    await tool(home, 'tar', 'xzf', join(downloads, archive), '--strip-components', '1');
  }
  return version;
}

/** An application of the newest Spring Boot, as `target/spring-1.jar`. */
export async function springApplication(folder: string): Promise<string> {
  const code = join(folder, 'src/main/java/lab');
  const resources = join(folder, 'src/main/resources');
  await Promise.all([mkdir(code, { recursive: true }), mkdir(resources, { recursive: true })]);
  await copyFile(join(SETUP, 'pom.xml'), join(folder, 'pom.xml'));
  await copyFile(join(SETUP, 'App.java'), join(code, 'App.java'));
  await copyFile(join(SETUP, 'application.yml'), join(resources, 'application.yml'));
  await tool(folder, 'mvn', '-q', '-B', 'package');
  return tool(
    folder,
    'mvn',
    '-q',
    '-B',
    'help:evaluate',
    '-Dexpression=project.parent.version',
    '-DforceStdout',
  );
}

/** A program of the newest version of a Go module, whose `replace` lines keep `go install` from building it. */
export async function fromGo(
  folder: string,
  module: string,
  { tags, dropped }: { readonly tags: string; readonly dropped: string },
): Promise<string> {
  await writeFile(join(folder, 'go.mod'), 'module lab\n');
  const found = JSON.parse(await tool(folder, 'go', 'mod', 'download', '-json', `${module}@latest`));
  const { Dir, Version } = found as { readonly Dir: string; readonly Version: string };
  const built = join(folder, `built-${Version}`);
  if (existsSync(built)) return Version;
  const source = join(folder, 'source');
  await rm(source, { recursive: true, force: true });
  await tool(folder, 'cp', '-r', Dir, source);
  await tool(folder, 'chmod', '-R', 'u+w', source);
  await tool(source, 'go', 'mod', 'edit', `-dropreplace=${dropped}`);
  await tool(source, 'go', 'build', '-mod=mod', '-tags', tags, '-o', built, '.');
  return Version;
}

/** A program of ours in `setup/` that uses a version of a Go module. Returns it. */
export async function withGo(folder: string, module: string, file: string): Promise<string> {
  await copyFile(join(SETUP, file), join(folder, 'main.go'));
  await writeFile(join(folder, 'go.mod'), 'module lab\n');
  await tool(folder, 'go', 'get', module);
  await tool(folder, 'go', 'mod', 'tidy');
  await tool(folder, 'go', 'build', '-o', 'built', '.');
  return tool(folder, 'go', 'list', '-m', '-f', '{{.Version}}', module.replace(/@.*/, ''));
}

/** The version that Debian has, if it is installed. @throws Error */
export async function fromDebian(folder: string, name: string): Promise<string> {
  const status = await tool(folder, 'dpkg', '--status', name).catch(() => '');
  const [, version] = /^Version: (.*)$/m.exec(status) ?? [];
  if (version === undefined) throw new Error(`Debian's package ${name} is not installed`);
  return version;
}
