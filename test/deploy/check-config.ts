import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import type { KekOwner } from '@ori/sealing/kek-ring';
import { expect } from 'vitest';
import { makeCertificate } from '../env/certificate.ts';
import { type Program, shipped } from '../env/programs.ts';

export interface Verdict {
  readonly code: number;
  readonly output: string;
}

type Environment = Readonly<Record<string, string>>;

/** Runs a service's `check-config` with exactly this environment, through the entry point that deployments use. */
export const checkConfig = (service: string, env: Environment): Promise<Verdict> =>
  run(`${service}/ori-${service}` as Program, ['check-config'], env);

export async function expectAccepted(service: string, env: Environment): Promise<void> {
  const prefix = service.toUpperCase().replace('-', '_');
  expect(await checkConfig(service, env)).toEqual({
    code: 0,
    output: `the ${prefix}_… configuration is valid\n`,
  });
}

/** Runs `ori-admin` with only the given environment. */
export const runAdmin = (words: readonly string[], env: Environment): Promise<Verdict> =>
  run('admin/ori-admin', words, env);

async function run(program: Program, words: readonly string[], env: Environment): Promise<Verdict> {
  const path = await shipped(program);
  return new Promise((resolve) => {
    execFile(process.execPath, [path, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

/** Creates a folder with every secret that a service may have, under the names that the deployments use. */
export async function writeSecrets(folder: string, service: string, mode: number): Promise<string[]> {
  const { cert, key } = makeCertificate();
  const secrets = {
    'database-url': 'postgres://login:password@db.example.com:5432/ori\n',
    'redis-url': 'rediss://ori-signer:password@redis.example.com:6379/0\n',
    'kek.json': generateKekRing(service as KekOwner),
    'log-key': randomBytes(32).toString('base64'),
    'kms-pin': '1234',
    'tls.crt': cert,
    'tls.key': key,
    'ca.crt': cert,
  };
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(secrets)) await writeFile(join(folder, name), text, { mode });
  return Object.keys(secrets);
}
