import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RootJwk } from '@ori/verifier';
import type { DemoData } from './demo-data.ts';
import { makeStateFolder, removeFile, STATE_FOLDER } from './state-folder.ts';

/** The state of a running standalone for other programs on this computer; the file has exactly these members. */
export interface StandaloneState extends DemoData {
  readonly baseUrl: string;
  readonly issuer: string;
  readonly daemonUrl: string;
  readonly jwksUrl: string;
  /** For daemons to pin. */
  readonly root: RootJwk;
  readonly metrics: { readonly signer: string; readonly management: string };
}

/**
 * Writes the state, readable only by its owner because it contains keys: into a file named after the port, and into
 * `standalone.json`, which is that of the last one to start.
 *
 * @returns the function that removes what was written, as far as it is still there
 */
export function writeState(home: string, state: StandaloneState): () => void {
  const folder = makeStateFolder(home);
  const text = `${JSON.stringify(state, null, 2)}\n`;
  const paths = [new URL(state.baseUrl).port, undefined].map((port) => join(folder, fileOf(port)));
  for (const path of paths) {
    removeFile(path);
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  }
  return () => {
    for (const path of paths) if (readText(path) === text) removeFile(path);
  };
}

/** The state of the standalone that runs from this folder, on `port` if given; undefined if there is none. */
export function readState(home: string, port?: string): StandaloneState | undefined {
  const text = readText(join(home, STATE_FOLDER, fileOf(port)));
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fileOf(port: string | undefined): string {
  return port === undefined ? 'standalone.json' : `standalone-${port}.json`;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
