import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hardenedCommand } from '@ori/service-kit/hardened-command';
import type { Room } from '../env/room.ts';
import { ServerProcess } from '../env/server-process.ts';

export const ROOT = join(import.meta.dirname, '../..');
export const PROBE = join(import.meta.dirname, 'probe.ts');

type Environment = Readonly<Record<string, string>>;

/** Runs a service to its end: `ori-signer` is the hardened entry, `main` the program without flags. */
export async function run(
  entry: 'ori-signer' | 'ori-management' | 'main',
  env: Environment,
  args: readonly string[] = [],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const file = {
    'ori-signer': 'signer/bin/ori-signer.js',
    'ori-management': 'management/bin/ori-management.js',
    main: 'signer/src/main.ts',
  };
  const path = join(ROOT, 'services', file[entry]);
  const outcome = await promisify(execFile)(process.execPath, [path, ...args], {
    env,
    timeout: 60_000,
  }).catch((error: { code: number; stdout: string; stderr: string }) => error);
  return { code: 'code' in outcome ? outcome.code : 0, stdout: outcome.stdout, stderr: outcome.stderr };
}

/** The flags that the environment makes, and one more file to read: the probe. */
export function probedFlags(env: Environment): string[] {
  const program = { prefix: 'SIGNER', root: ROOT, service: 'signer', writes: ['SIGNER_AUDIT_FILE'] };
  const { args } = hardenedCommand(program, env, []);
  return [...args.slice(0, -1), `--allow-fs-read=${PROBE}`, '--import', PROBE];
}

export interface StartedSigner extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  readonly opsUrl: string;
  /** What it wrote to standard output and standard error. */
  readonly output: readonly string[];
  kill(signal: NodeJS.Signals): void;
}

/** Starts the signer on ports of the system's choice. @param flags default: those of the hardened entry */
export async function start(room: Room, env: Environment, flags?: readonly string[]): Promise<StartedSigner> {
  const output: string[] = [];
  const entry = flags ? [...flags, 'services/signer/src/main.ts'] : ['services/signer/bin/ori-signer.js'];
  const last = join(ROOT, entry.at(-1) ?? '');
  const server = new ServerProcess({
    room,
    program: process.execPath,
    arguments: [...entry.slice(0, -1), last],
    ready: /"msg":"listening"/,
    farewell: 'KILL',
    environment: { ...env, SIGNER_PORT: '0', SIGNER_OPS_PORT: '0' },
    hear: (line) => void output.push(line),
  });
  await server.start();
  const { pid } = server;
  if (pid === undefined) throw new Error('the signer ended as soon as it listened');
  const line = output.find((text) => text.includes('"msg":"listening"')) ?? '{}';
  return {
    ...(JSON.parse(line) as { url: string; opsUrl: string }),
    pid,
    output,
    kill: (signal) => void process.kill(pid, signal),
    [Symbol.asyncDispose]: () => server.end('SIGKILL'),
  };
}
