import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { BASE_URL_DEFAULT, parseBaseAddress } from '../core/address.ts';
import type { Session } from '../core/session.ts';
import type { OutputStream, Terminal } from '../text/terminal.ts';

/** What surrounds the process. Only main.ts takes it from the real one. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly interrupted: AbortSignal;
  readonly nowSeconds: () => number;
}

/** The options that every command has. */
export interface GlobalOptions {
  readonly baseUrl?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** What a command works with. */
export interface Context extends Surroundings {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly baseUrlOption?: string;
}

/** An environment variable; an empty one counts as unset. */
export function variable(context: Surroundings, name: string): string | undefined {
  const value = context.environment[name];
  return value === '' ? undefined : value;
}

/** The base address that the user chose for this command; undefined leaves it to the session. */
export function chosenBaseUrl(context: Context): string | undefined {
  const chosen = context.baseUrlOption ?? variable(context, 'ORI_BASE_URL');
  return chosen === undefined ? undefined : parseBaseAddress(chosen);
}

/** The base address to sign in to: chosen, else that of the last session, else the standalone's. */
export function baseUrlToSignIn(context: Context, session: Session | undefined): string {
  return chosenBaseUrl(context) ?? session?.base_url ?? BASE_URL_DEFAULT;
}

/** Where the session is kept (XDG Base Directory Specification: a relative folder is ignored). */
export function sessionPlace(context: Surroundings): { file: string; lock: string } {
  const configured = variable(context, 'XDG_CONFIG_HOME');
  const home = variable(context, 'HOME') ?? homedir();
  const folder = join(
    configured !== undefined && isAbsolute(configured) ? configured : join(home, '.config'),
    'ori',
  );
  return { file: join(folder, 'session.json'), lock: join(folder, 'session.lock') };
}
