import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { hardenedCommand } from '@ori/runtime/hardened-command';
import { shipped } from '../env/programs.ts';
import { SIGN_BODY, type World } from '../env/world.ts';

export const PROBE = join(import.meta.dirname, 'probe.ts');

type Environment = Readonly<Record<string, string>>;

/** Runs a service to its end: `ori-signer` is the hardened entry, `main` the program without flags. */
export async function run(
  entry: 'ori-signer' | 'ori-management' | 'main',
  env: Environment,
  args: readonly string[] = [],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const path = await shipped(entry === 'ori-management' ? 'management/ori-management' : `signer/${entry}`);
  const outcome = await promisify(execFile)(process.execPath, [path, ...args], {
    env,
    timeout: 60_000,
  }).catch((error: { code: number; stdout: string; stderr: string }) => error);
  return { code: 'code' in outcome ? outcome.code : 0, stdout: outcome.stdout, stderr: outcome.stderr };
}

/** The flags derived from the environment, plus read access to the probe. */
export async function probedFlags(env: Environment): Promise<string[]> {
  const folder = dirname(await shipped('signer/ori-signer'));
  const program = { prefix: 'SIGNER', folder, writes: ['SIGNER_AUDIT_FILE'] };
  const { args } = hardenedCommand(program, env, []);
  return [...args.slice(0, -1), `--allow-fs-read=${PROBE}`, '--import', PROBE];
}

/** The status of a signer's answer at this address to a request of the world. */
export async function signAt(url: string, world: World, token?: string): Promise<number> {
  const bearer = token ?? (await world.token());
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
  return (await fetch(url + world.signPath, { method: 'POST', headers, body: SIGN_BODY })).status;
}
