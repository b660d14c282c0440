import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StoreName } from './repertoire.ts';
import { MEMORY_VARIANTS } from './variants/memory.ts';
import { POSTGRES_VARIANTS } from './variants/postgres.ts';
import { REDIS_VARIANTS } from './variants/redis.ts';

/** A text of a file of the library, and what replaces it. */
export type Break = readonly [file: string, guard: string, without: string];

/** Guards of a store, and how to remove them from the library. */
export type Variants = Readonly<
  Record<
    string,
    {
      readonly guard: string;
      /** The faults to inject, if no other fault detects the absence of this guard. */
      readonly faults?: readonly string[];
      readonly breaks: readonly Break[];
    }
  >
>;

const OF_STORES = { redis: REDIS_VARIANTS, memory: MEMORY_VARIANTS, postgres: POSTGRES_VARIANTS };

/** The harness must detect each of them. */
export const VARIANTS: Readonly<Record<string, Variants[string] & { readonly store: StoreName }>> =
  Object.fromEntries(
    Object.entries(OF_STORES).flatMap(([store, variants]) =>
      Object.entries(variants).map(([name, variant]) => [name, { ...variant, store: store as StoreName }]),
    ),
  );

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The verifier library's sources as they are. */
export const LIBRARY = join(ROOT, 'libs/public/verifier/src');

/** A copy of the sources with one broken guard, removed on disposal. */
export interface BrokenLibrary extends AsyncDisposable {
  readonly folder: string;
}

/** Throws if a text is not found exactly once: the source has changed, and the variant must be updated. */
export async function breakLibrary(name: string): Promise<BrokenLibrary> {
  const variant = VARIANTS[name];
  if (!variant) throw new Error(`no variant ${name}: there are ${Object.keys(VARIANTS).join(', ')}`);
  const folder = await mkdtemp(join(tmpdir(), 'ori-variant-'));
  await cp(LIBRARY, join(folder, 'src'), { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, guard, without] of variant.breaks) {
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
