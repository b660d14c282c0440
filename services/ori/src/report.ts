import { printable, printableJson, printableLines } from '@ori/faces/printable';
import { explainUsage } from '@ori/faces/usage';
import { type Command, CommanderError } from 'commander';
import type { HostEnvironment } from './commands/context.ts';
import { CliError, isCliError } from './core/errors.ts';
import { recordOf } from './text/failure-record.ts';
import { red, takesColour } from './text/terminal.ts';

/** The command in the arguments, such as `ori doctor call`. */
export function named(program: Command, args: readonly string[]): string {
  let command = program;
  let path = program.name();
  for (const arg of args) {
    const sub = command.commands.find((candidate) => candidate.name() === arg);
    if (sub === undefined) continue;
    command = sub;
    path += ` ${sub.name()}`;
  }
  return path;
}

/** Converts errors of commander to usage errors, which refer to the help of the command. */
export function toFailure(error: unknown, command: string): unknown {
  const next = `See: ${command} --help`;
  if (isCliError(error, 'usage')) return new CliError('usage', { next, ...error.facts });
  if (!(error instanceof CommanderError)) return error;
  return new CliError('usage', { detail: explainUsage(error), next });
}

/** Writes a failure to stderr, as text or as JSON, and returns its exit code. */
export function report(
  error: unknown,
  { stderr, environment }: HostEnvironment,
  { json, profile }: { json: boolean; profile: string | undefined },
): number {
  const colour = takesColour(stderr, environment);
  const name = colour ? red('ori:') : 'ori:';
  const record = recordOf(error, profile);
  const { exit, message, next } = record;
  if (json) stderr.write(`${printableJson({ error: record })}\n`);
  else if (!(error instanceof CliError)) stderr.write(`${name} ${next}\n${printableLines(message)}\n`);
  else if (isCliError(error, 'interrupted')) stderr.write(`${name} Interrupted.\n`);
  else stderr.write(`${name} ${printable(message)}\n     ${printable(next)}\n`);
  return exit;
}
