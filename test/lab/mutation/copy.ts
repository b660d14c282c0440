import { execFileSync } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A copy of the checkout whose workspace packages resolve to the copy, and all others to the installed ones. Stryker's
 * own sandbox links `node_modules` as a whole, so a test would import the unmutated package from the checkout.
 */
export async function copyCheckout(root: string): Promise<Disposable & { readonly directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'ori-mutation-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', remove);
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  })
    .toString()
    .split('\0');
  for (const file of files.filter(Boolean)) {
    await cp(join(root, file), join(directory, file), { errorOnExist: false, recursive: true }).catch(
      ignoreAbsent,
    );
  }
  const modules = join(directory, 'node_modules');
  await mkdir(modules);
  for (const name of await readdir(join(root, 'node_modules'))) {
    const from = join(root, 'node_modules', name);
    if (name === '@ori') await cp(from, join(modules, name), { recursive: true, verbatimSymlinks: true });
    else await symlink(from, join(modules, name));
  }
  for (const own of globSync('{deploy,libs/*,services,test}/*/node_modules', { cwd: root })) {
    await symlink(join(root, own), join(directory, own));
  }
  return { directory, [Symbol.dispose]: remove };
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
