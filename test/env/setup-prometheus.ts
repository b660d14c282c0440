import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { APT_PATIENCE } from './packages.ts';
import { findPrometheus, PROMETHEUS_FOLDER } from './prometheus-binaries.ts';

/** The result, in a sentence. `failed` if it should have worked. */
export interface SetUp {
  readonly failed: boolean;
  readonly sentence: string;
}

/**
 * Unpacks Debian's packages of Prometheus and its blackbox exporter into the checkout instead of installing it: no system service, none of the
 * packages for its web page, and no need for root if the package lists exist.
 */
export function setUpPrometheus(): SetUp {
  const found = findPrometheus();
  if (found) return { failed: false, sentence: `Prometheus: ${found.prometheus} is there; nothing to do.` };
  if (!existsSync('/etc/debian_version')) {
    return {
      failed: false,
      sentence:
        'Prometheus: not installed; tests that need it are skipped. Install `prometheus`, `promtool` and `prometheus-blackbox-exporter`.',
    };
  }
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
  return unpacked
    ? { failed: false, sentence: `Prometheus: unpacked ${unpacked.prometheus} from Debian's package.` }
    : {
        failed: isRoot,
        sentence:
          'Prometheus: apt-get could not download it, see its output above; tests that need it are skipped.',
      };
}

function run(program: string, words: readonly string[], cwd?: string): void {
  // As root, apt warns that its own user cannot write to the folder; the download works anyway.
  const quiet = words[0] === 'download' ? ['-o', 'APT::Sandbox::User=root'] : [];
  const options = program === 'apt-get' ? [...APT_PATIENCE, ...quiet] : [];
  spawnSync(program, [...options, ...words], { stdio: ['ignore', 'ignore', 'inherit'], cwd });
}
