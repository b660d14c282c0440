import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** The prototype of all file handles, for spies. */
export async function fileHandles(): Promise<FileHandle> {
  await using handle = await open('/dev/null');
  return Object.getPrototypeOf(handle);
}

/** The path of a descriptor of this process; undefined where the system does not tell. */
export function pathOf(fd: number | string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

/** The files that this process has open of a folder, itself included; none where the system does not tell. */
export function openOf(folder: string): string[] {
  const all = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').map(pathOf) : [];
  return all.filter((path) => path !== undefined).filter((path) => `${path}/`.startsWith(`${folder}/`));
}
