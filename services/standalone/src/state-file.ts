import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a running standalone tells others on this computer; the file holds exactly these members. */
export interface StandaloneState {
  readonly baseUrl: string;
  readonly issuer: string;
  readonly daemonUrl: string;
  readonly jwksUrl: string;
  /** Addresses of the services' `/metrics`. */
  readonly metrics: { readonly signer: string; readonly management: string };
  readonly internId: string;
  readonly workspaceId: string;
  readonly users: readonly { readonly name: string; readonly subject: string; readonly userId: string }[];
  readonly apiKey: string;
  readonly apiKeyHash: string;
  readonly internApiKey: string;
  readonly managementKey: string;
  readonly byokId: string;
}

/** The folder, beside the program that starts it, where a standalone keeps what it writes. */
export const STATE_FOLDER = '.ori';
const FILE = 'standalone.json';

/** Makes the state folder, for its owner only. */
export function makeStateFolder(home: string): string {
  const folder = join(home, STATE_FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/**
 * Writes the state, for its owner only: it holds keys.
 *
 * @returns the function that removes it again, unless another standalone has written its own since
 */
export function writeState(home: string, state: StandaloneState): () => void {
  const path = join(makeStateFolder(home), FILE);
  const text = `${JSON.stringify(state, null, 2)}\n`;
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  return () => {
    if (readText(path) === text) rmSync(path, { force: true });
  };
}

/** The state of the standalone that runs from this folder; undefined when none has written one. */
export function readState(home: string): StandaloneState | undefined {
  const text = readText(join(home, STATE_FOLDER, FILE));
  return text === undefined ? undefined : JSON.parse(text);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
