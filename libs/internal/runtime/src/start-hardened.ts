import { existsSync } from 'node:fs';
import { ConfigError } from './config.ts';
import { coreFileLimit } from './core-file-limit.ts';
import { type HardenedProgram, hardenedCommand } from './hardened-command.ts';

/** The exit code for an invalid configuration. */
const EXIT_CONFIGURATION = 2;

/** The umask: no write for the group, nothing for others. The signing log reads as the group. */
const FOR_OTHERS = 0o027;

/** Sets limits of a process and executes a program. Part of every Debian, but missing in minimal images. */
const PRLIMIT = '/usr/bin/prlimit';

/**
 * Becomes the hardened service: the same process, by `execve`, so that signals and the exit code are its own and no shell
 * is needed. Others cannot access new files; core dumps are turned off where they are on and the system has `prlimit`.
 */
export function startHardened(process: NodeJS.Process, program: HardenedProgram): void {
  try {
    const { args, env } = hardenedCommand(program, process.env, process.argv.slice(2));
    const command = [...withoutCoreDumps(), process.execPath, ...args];
    process.umask(process.umask() | FOR_OTHERS);
    process.execve?.(command[0] as string, command, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT_CONFIGURATION;
  }
}

function withoutCoreDumps(): string[] {
  const dumps = coreFileLimit() !== '0';
  return dumps && existsSync(PRLIMIT) ? [PRLIMIT, '--core=0', '--'] : [];
}
