import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A text of a file of the library, and what replaces it. */
export type Break = readonly [file: string, guard: string, without: string];

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The verifier library's sources as they are. */
export const LIBRARY = join(ROOT, 'libs/public/verifier/src');

/** A copy of the sources without a guard, removed on disposal. Throws unless the text is there exactly once. */
export async function breakLibrary([file, guard, without]: Break): Promise<
  AsyncDisposable & { readonly folder: string }
> {
  const directory = await mkdtemp(join(tmpdir(), 'ori-broken-'));
  const folder = join(directory, 'src');
  await cp(LIBRARY, folder, { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const pieces = (await readFile(join(folder, file), 'utf8')).split(guard);
  if (pieces.length !== 2) throw new Error(`${file} contains the guard ${pieces.length - 1} times: ${guard}`);
  await writeFile(join(folder, file), pieces.join(without));
  return { folder, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}
