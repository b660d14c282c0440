import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { APT_PATIENCE, complain, say } from './packages.ts';
import { findPrometheus, NO_PROMETHEUS, PROMETHEUS_FOLDER } from './prometheus-binaries.ts';

/**
 * Unpacks Debian's packages of Prometheus and its blackbox exporter into the checkout instead of installing it: no system service, none of the
 * packages for its web page, and no need for root if the package lists exist.
 */
export function setUpPrometheus(): boolean {
  const found = findPrometheus();
  if (found) return say(`Prometheus: ${found.prometheus}; nothing to do.`);
  if (!existsSync('/etc/debian_version')) return say(`${NO_PROMETHEUS}; tests that need it are skipped.`);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) run('apt-get', ['update', '-qq']);
  const folder = mkdtempSync(join(tmpdir(), 'ori-prometheus-'));
  try {
    run('apt-get', ['download', '-qq', 'prometheus', 'prometheus-blackbox-exporter'], folder);
    mkdirSync(PROMETHEUS_FOLDER, { recursive: true });
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
      run('dpkg-deb', ['-x', join(folder, file), PROMETHEUS_FOLDER]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const unpacked = findPrometheus();
  if (unpacked) return say(`Prometheus: unpacked ${unpacked.prometheus} from Debian's package.`);
  return (isRoot ? complain : say)(
    'Prometheus: apt-get could not download it, see its output above; tests that need it are skipped.',
  );
}

function run(program: string, words: readonly string[], cwd?: string): void {
  // As root, apt warns that its own user cannot write to the folder; the download works anyway.
  const quiet = words[0] === 'download' ? ['-o', 'APT::Sandbox::User=root'] : [];
  const options = program === 'apt-get' ? [...APT_PATIENCE, ...quiet] : [];
  spawnSync(program, [...options, ...words], { stdio: ['ignore', 'ignore', 'inherit'], cwd });
}
