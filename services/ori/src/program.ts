import { CommanderError } from 'commander';
import { createProgram } from './command-line.ts';
import type { HostEnvironment } from './commands/context.ts';
import { EXIT } from './core/exit-codes.ts';
import { named, report, toFailure } from './report.ts';

/**
 * Runs one command line and resolves to its exit code. Writes to the two streams of `host`, never to
 * the console, and does not throw. The module of a command is loaded when the command runs.
 */
export async function run(args: readonly string[], host: HostEnvironment): Promise<number> {
  const json = args.includes('--json');
  const program = createProgram(host, { json });
  try {
    await program.parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const { profile } = program.opts<{ profile?: string }>();
    return report(toFailure(error, named(program, args)), host, { json, profile });
  }
}
