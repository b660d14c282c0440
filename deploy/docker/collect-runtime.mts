import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';

/**
 * Collects in a folder everything that programs need to run: themselves, their shared libraries, and the three files
 * from which the C library reads users and name resolution.
 */
function collectRuntime(folder: string, programs: readonly string[]): void {
  for (const program of programs) {
    const [path = '', place = path] = program.split('=');
    collectProgram(path, folder, place);
  }
  write(join(folder, 'etc/passwd'), 'ori:x:65532:65532::/nonexistent:/nonexistent\n');
  write(join(folder, 'etc/group'), 'ori:x:65532:\n');
  write(join(folder, 'etc/nsswitch.conf'), 'hosts: files dns\n');
}

function collectProgram(program: string, folder: string, place: string): void {
  copy(program, join(folder, place));
  const libraries = execFileSync('ldd', [program], { encoding: 'utf8' });
  for (const [, path = ''] of libraries.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm))
    copy(path, join(folder, path));
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, 0o755);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o644 });
}

const [folder, ...programs] = process.argv.slice(2);
if (folder === undefined || programs.length === 0) {
  throw new Error('usage: node collect-runtime.mts FOLDER PROGRAM[=PLACE]...');
}
collectRuntime(folder, programs);
