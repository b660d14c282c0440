import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';

/** Stores one text: the last checkpoints that a client trusted, or the proofs that a monitor has yet to check. */
export interface Remembered {
  load(): Promise<string | undefined>;
  save(note: string): Promise<void>;
}

/** In memory, for the life of the process. */
export function rememberInMemory(): Remembered {
  let note: string | undefined;
  return {
    load: async () => note,
    async save(latest) {
      note = latest;
    },
  };
}

/** In a file of mode 0600, replaced atomically, also by several processes, and complete after a power loss. */
export function rememberInFile(path: string): Remembered {
  return {
    async load() {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async save(note) {
      const draft = `${path}.${randomUUID()}.draft`;
      try {
        await writeFile(draft, note, { mode: 0o600, flush: true });
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },
  };
}
