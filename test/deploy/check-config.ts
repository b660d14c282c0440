import { execFile } from 'node:child_process';
import process from 'node:process';
import { shipped } from '../env/programs.ts';

export interface Verdict {
  readonly code: number;
  readonly output: string;
}

const ENTRIES = {
  signer: 'signer/ori-signer',
  management: 'management/ori-management',
  log: 'log/ori-log',
  witness: 'witness/ori-witness',
  guard: 'guard/ori-guard',
  'kms-agent': 'kms-agent/ori-kms-agent',
} as const;

/** Runs a service's `check-config` with exactly this environment, through the entry point that deployments use. */
export async function checkConfig(
  service: keyof typeof ENTRIES,
  env: Readonly<Record<string, string>>,
): Promise<Verdict> {
  return run([await shipped(ENTRIES[service]), 'check-config'], env);
}

/** Runs `ori-admin` with only the given environment. */
export async function runAdmin(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Verdict> {
  return run([await shipped('admin/ori-admin'), ...words], env);
}

function run(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Verdict> {
  return new Promise((resolve) => {
    execFile(process.execPath, words, { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}
