import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function tryCreate(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Takes `<dataDir>.lock`, which holds this process's id; a lock whose process is gone is taken over.
 *
 * @returns the function that gives it back
 * @throws Error when a living process holds it
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const path = `${dataDir.replace(/\/+$/, '')}.lock`;
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await tryCreate(path)) return () => rm(path, { force: true });
    const owner = Number(await readFile(path, 'utf8').catch(() => ''));
    if (Number.isInteger(owner) && owner > 0 && isAlive(owner)) {
      throw new Error(`${dataDir} is in use by process ${owner}; stop it, or choose another folder`);
    }
    await rm(path, { force: true });
  }
  throw new Error(`${path} could not be taken`);
}
