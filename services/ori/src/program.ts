import { CommanderError } from 'commander';
import { createProgram } from './command-line.ts';
import type { Surroundings } from './commands/context.ts';
import { EXIT } from './core/exit-codes.ts';
import { named, report, toFailure } from './report.ts';

/**
 * Runs one command line and resolves to its exit code. Writes to the two streams of `surroundings`, never to
 * the console, and does not throw. The module of a command is loaded when the command runs.
 */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const json = args.includes('--json');
  const program = createProgram(surroundings, { json });
  try {
    await program.parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const { profile } = program.opts<{ profile?: string }>();
    return report(toFailure(error, named(program, args)), surroundings, { json, profile });
  }
}
