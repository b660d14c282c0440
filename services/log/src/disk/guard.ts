import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TreeHead } from '@ori/tlog/merkle';
import { ifThere, makeFolder, replaceFile } from './durable-file.ts';

export async function openGuard(folder: string) {
  const path = join(folder, 'signed.json');
  await makeFolder(folder);
  let head = await readHead(path);
  return {
    /** Undefined if this folder has no record of a signed tree. */
    get head() {
      return head;
    },
    /** Resolves once it is durable. The tree must not be signed before. */
    async save(next: TreeHead): Promise<void> {
      const { size, root } = next;
      await replaceFile(path, `${JSON.stringify({ size, root: Buffer.from(root).toString('base64') })}\n`);
      head = next;
    },
  };
}

/**
 * The largest tree ever signed, stored apart from the tree, so that an older copy of the tree is detected before it is signed.
 */
export type Guard = Awaited<ReturnType<typeof openGuard>>;

async function readHead(path: string): Promise<TreeHead | undefined> {
  const text = await ifThere(readFile(path, 'utf8'));
  if (text === undefined) return undefined;
  const { size, root } = JSON.parse(text) as { size: number; root: string };
  return { size, root: Buffer.from(root, 'base64') };
}
