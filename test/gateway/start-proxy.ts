import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
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

/** Resolves once the daemon, or its guard, has refused a call that has no proof. Traefik answers 404 until it has read its file. */
export async function startProxy(room: Room, { program, args, env, port }: Proxy): Promise<AsyncDisposable> {
  const child = spawn(program, args, { env, cwd: room.directory, stdio: 'ignore' });
  const ask = () => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' }).catch(() => undefined);
  while ((await ask())?.status !== 401) if (child.exitCode !== null) throw new Error(`${program} ended`);
  return {
    async [Symbol.asyncDispose]() {
      // Apache's workers outlive a parent that is killed. It ends them at once on SIGTERM, others may wait for open connections.
      child.kill(basename(program) === 'apache2' ? 'SIGTERM' : 'SIGKILL');
      if (child.exitCode === null) await once(child, 'close');
    },
  };
}
