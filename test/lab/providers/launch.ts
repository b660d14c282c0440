import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ForeignProvider } from '../../e2e/foreign-providers.ts';
import { freePort } from '../../env/ports.ts';
import { openRoom } from '../../env/room.ts';
import { ServerProcess } from '../../env/server-process.ts';

/** The programs and pages of ours that a provider runs with. */
export const SETUP = join(import.meta.dirname, 'setup');
/** Of Ada, who signs in at each. */
export const PASSWORD = 'ada-Ada-123';

export type Started = Pick<ForeignProvider, 'issuer' | 'settings' | 'subject' | 'visit'> & AsyncDisposable;

/** One provider of the table. */
export interface Launch {
  readonly name: string;
  /** Why its tokens do not sign as it is installed. */
  readonly asInstalled: string;
  /** What an operator changes at the provider, and in the file of issuers; undefined if nothing helps. */
  readonly lines: string | undefined;
  /** Whether `sub` can pass to another person. */
  readonly sub: string;
  /** Installs the newest version that its registry has into the folder, and returns it. @throws Error */
  install(folder: string): Promise<string>;
  start(baseUrl: string, folder: string, version: string): Promise<Started>;
}

interface Program {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly ready: RegExp;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A provider that is one process, with a port of its own. */
export async function started(
  command: (port: number, directory: string) => Program | Promise<Program>,
  describe: (url: string) => Pick<Started, 'issuer' | 'settings' | 'subject' | 'visit'>,
): Promise<Started> {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-provider'));
  const port = await freePort();
  const server = new ServerProcess({ room, farewell: 'KILL', ...(await command(port, room.directory)) });
  await server.start();
  stack.defer(() => server.killFamily());
  const owned = stack.move();
  return { ...describe(`http://127.0.0.1:${port}`), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A Python provider: a program of `setup/` with PORT, AUDIENCE, and KEY, the file of a new RSA key. */
export const startedPython = (
  folder: string,
  audience: string,
  file: string,
  describe: Parameters<typeof started>[1],
  environment: Readonly<Record<string, string>> = {},
): Promise<Started> =>
  started((port, directory) => {
    const key = join(directory, 'key.pem');
    execFileSync('openssl', ['genrsa', '-out', key, '2048'], { stdio: 'ignore' });
    return {
      program: join(folder, 'venv/bin/python'),
      arguments: ['-u', join(SETUP, file)],
      ready: /Quit the server|Running on/,
      environment: { PORT: String(port), AUDIENCE: audience, KEY: key, ...environment },
    };
  }, describe);
