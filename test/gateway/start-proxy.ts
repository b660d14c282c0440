import { spawn } from 'node:child_process';
import { findProgram, type Room } from '../env/room.ts';

export interface Proxy {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
}

/** The path of a proxy; undefined, with a warning, if this machine has none. */
export function findProxy(name: string): string | undefined {
  const program = findProgram(name, ['/usr/sbin', '/usr/bin']);
  if (program === undefined) console.warn(`No ${name} on this machine: its configuration is not tested.`);
  return program;
}

/**
 * Starts a proxy, which ends with the room. Resolves once the daemon, or its guard, has refused a call without a proof:
 * Traefik answers 404 until it has read its file.
 */
export async function startProxy(room: Room, { program, args, env, port }: Proxy): Promise<void> {
  const child = spawn(program, args, { env, cwd: room.directory, stdio: 'ignore', detached: true });
  // Apache's workers outlive a parent that is killed.
  room.admit(child, 'TERM');
  const ask = () => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' }).catch(() => undefined);
  while ((await ask())?.status !== 401) if (child.exitCode !== null) throw new Error(`${program} ended`);
  child.unref();
}
