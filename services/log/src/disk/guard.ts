import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TreeHead } from '@ori/tlog/merkle';
import { makeFolder, replaceFile } from './durable-file.ts';

/**
 * The largest tree ever signed, kept apart from the tree: an older copy of the tree is then found out before it is signed.
 */
export interface Guard {
  /** Undefined where nothing was ever signed, as far as this folder knows. */
  readonly head: TreeHead | undefined;
  /** Resolves when the disk has it; the tree may be signed then, and not before. */
  save(head: TreeHead): Promise<void>;
}

export async function openGuard(folder: string): Promise<Guard> {
  const path = join(folder, 'signed.json');
  await makeFolder(folder);
  let head = await readHead(path);
  return {
    get head() {
      return head;
    },
    async save(next) {
      const { size, root } = next;
      await replaceFile(path, `${JSON.stringify({ size, root: Buffer.from(root).toString('base64') })}\n`);
      head = next;
    },
  };
}

async function readHead(path: string): Promise<TreeHead | undefined> {
  try {
    const { size, root } = JSON.parse(await readFile(path, 'utf8')) as { size: number; root: string };
    return { size, root: Buffer.from(root, 'base64') };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
