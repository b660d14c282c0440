import { readFile, rename, writeFile } from 'node:fs/promises';

/** Where a client keeps the last checkpoint that it trusted: what comes later must extend it. */
export interface Remembered {
  load(): Promise<string | undefined>;
  save(note: string): Promise<void>;
}

/** For the life of the process alone. */
export function rememberInMemory(): Remembered {
  let note: string | undefined;
  return {
    load: async () => note,
    async save(latest) {
      note = latest;
    },
  };
}

/** In a file, replaced as a whole. */
export function rememberInFile(path: string): Remembered {
  return {
    async load() {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async save(note) {
      await writeFile(`${path}.draft`, note, { mode: 0o600 });
      await rename(`${path}.draft`, path);
    },
  };
}
