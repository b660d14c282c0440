import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StoreName } from './repertoire.ts';
import { MEMORY_VARIANTS } from './variants/memory.ts';
import { POSTGRES_VARIANTS } from './variants/postgres.ts';
import { REDIS_VARIANTS } from './variants/redis.ts';

/** A guard, and how to remove it from the library. */
export interface Variant {
  readonly guard: string;
  readonly store: StoreName;
  /** The faults to inject, if no other fault detects the absence of this guard. */
  readonly faults?: readonly string[];
  readonly breaks: readonly Break[];
}

/** A text of the library and what replaces it. */
export interface Break {
  readonly file: string;
  readonly guard: string;
  readonly without: string;
}

/** The harness must detect each of them. */
export const VARIANTS: Readonly<Record<string, Variant>> = {
  ...REDIS_VARIANTS,
  ...MEMORY_VARIANTS,
  ...POSTGRES_VARIANTS,
};

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The verifier library's sources as they are. */
export const LIBRARY = join(ROOT, 'libs/public/verifier/src');

/** A copy of the sources with one broken guard, removed on disposal. */
export interface BrokenLibrary extends AsyncDisposable {
  readonly folder: string;
}

export async function breakLibrary(name: string): Promise<BrokenLibrary> {
  const variant = VARIANTS[name];
  if (!variant) throw new Error(`no variant ${name}: there are ${Object.keys(VARIANTS).join(', ')}`);
  return await changeLibrary(name, LIBRARY, variant.breaks);
}

/** Throws if a text is not found exactly once in `library`: the source has changed, and `name` must be updated. */
export async function changeLibrary(
  name: string,
  library: string,
  breaks: readonly Break[],
): Promise<BrokenLibrary> {
  const folder = await mkdtemp(join(tmpdir(), 'ori-variant-'));
  await cp(library, join(folder, 'src'), { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const { file, guard, without } of breaks) {
    const path = join(folder, 'src', file);
    const pieces = (await readFile(path, 'utf8')).split(guard);
    if (pieces.length !== 2)
      throw new Error(`${name}: ${file} contains the guard ${pieces.length - 1} times: ${guard}`);
    await writeFile(path, pieces.join(without));
  }
  return {
    folder: join(folder, 'src'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
