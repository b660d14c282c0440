import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file atomically: after a crash it has either the old or the new content. Resolves once it is durable.
 * The draft has a fixed name beside the file, so a path must have one writer at a time.
 */
export async function replaceFile(path: string, bytes: string | Uint8Array): Promise<void> {
  const draft = `${path}.draft`;
  const file = await open(draft, 'w', 0o644);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Makes a folder and its parents, and syncs each parent that this process may open. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) {
    await syncFolder(dirname(folder)).catch((error: NodeJS.ErrnoException) => {
      // The permission model: the service's folders are its own, those above them are not.
      if (error.code !== 'ERR_ACCESS_DENIED') throw error;
    });
  }
}

/** What was read of a file, undefined if there is none. @throws as the file system does for one that cannot be read */
export async function ifThere<T>(read: Promise<T>): Promise<T | undefined> {
  return await read.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}
