import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Locks of this process. Needed because in a container its id may equal that of a crashed predecessor. */
const held = new Set<string>();

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** An existing lock file always contains its owner, because `link` is atomic, unlike creating and then writing. */
async function tryCreate(path: string): Promise<boolean> {
  const draft = `${path}.${process.pid}.${randomUUID()}`;
  await writeFile(draft, String(process.pid), { mode: 0o600 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Creates `<folder>.lock` with this process's id, or takes over a lock whose process has ended.
 *
 * @returns releases the lock
 * @throws Error if a running process has the lock
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = `${resolve(folder)}.lock`;
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await tryCreate(path)) {
      held.add(path);
      return () => release(path);
    }
    const owner = Number(await readFile(path, 'utf8').catch(() => ''));
    const inUse =
      owner === process.pid ? held.has(path) : Number.isInteger(owner) && owner > 0 && isAlive(owner);
    if (inUse) {
      throw new Error(`${folder} is in use by process ${owner}; stop it, or choose another folder`);
    }
    await rm(path, { force: true });
  }
  throw new Error(`could not acquire the lock ${path}`);
}

async function release(path: string): Promise<void> {
  if (!held.delete(path)) return;
  await rm(path, { force: true });
}
