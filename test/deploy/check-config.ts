import { execFile } from 'node:child_process';
import process from 'node:process';
import { ROOT } from './root.ts';

export interface Verdict {
  readonly code: number;
  readonly output: string;
}

/** Has a service judge an environment, by the entry that deployments start and with nothing else in the environment. */
export function checkConfig(
  service: 'signer' | 'management',
  env: Readonly<Record<string, string>>,
): Promise<Verdict> {
  return run([`${ROOT}services/${service}/bin/ori-${service}.js`, 'check-config'], env);
}

/** Runs `ori-admin` with nothing but the environment given. */
export function runAdmin(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Verdict> {
  return run([`${ROOT}services/management/src/admin/main.ts`, ...words], env);
}

function run(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Verdict> {
  return new Promise((resolve) => {
    execFile(process.execPath, words, { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}
