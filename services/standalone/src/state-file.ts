import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { RootJwk } from '@ori/verifier/rooted';
import type { DemoData } from './demo-data.ts';

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

/** The folder for the files of a standalone, in the working directory. */
const FOLDER = '.ori';
const FILE = 'standalone.json';

/** Creates the folder, accessible only to its owner. */
export function makeStateFolder(home: string): string {
  const folder = join(home, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/**
 * Writes the state, readable only by its owner because it contains keys. Each standalone of a folder has a file named
 * after its port; `standalone.json` is that of the one that runs longest.
 *
 * @returns the function that removes what was written
 */
export async function writeState(home: string, state: StandaloneState): Promise<() => void> {
  const folder = makeStateFolder(home);
  const text = `${JSON.stringify(state, null, 2)}\n`;
  const paths = [join(folder, fileOf(new URL(state.baseUrl).port))];
  const first = readState(home);
  if (first === undefined || !(await isRunning(first))) paths.push(join(folder, FILE));
  for (const path of paths) {
    rmSync(path, { force: true });
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  }
  return () => {
    for (const path of paths) if (readText(path) === text) rmSync(path, { force: true });
  };
}

/** The state of the standalone that runs from this folder, on `port` if given; undefined if there is none. */
export function readState(home: string, port?: string): StandaloneState | undefined {
  const text = readText(join(home, FOLDER, port === undefined ? FILE : fileOf(port)));
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fileOf(port: string): string {
  return `standalone-${port}.json`;
}

/** Whether something still listens at the address in the state, because a killed standalone leaves its file behind. */
function isRunning({ baseUrl }: StandaloneState): Promise<boolean> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
    const settle = (running: boolean) => {
      socket.destroy();
      resolve(running);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
